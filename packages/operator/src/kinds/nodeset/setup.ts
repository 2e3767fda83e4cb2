/** Which changes make a NodeSet be looked at. */
import { app, label, resourceName } from '@slurm-operator/api';
import {
  type ChannelSource,
  configMaps,
  controllerOf,
  controllerRevisions,
  type Manager,
  nodes,
  type ObjectRef,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  secrets,
  services,
} from '@slurm-operator/kube';
import { controllers, digestData, nodeSets } from '../../cache/resources.ts';
import type { GatewayFinder } from '../../slurm-connection/slurm-gateway.ts';
import { machineChanged } from './machine-changed.ts';
import { type NodeSetOptions, nodeSetReconciler } from './reconciler.ts';

/** The index of pods by the machine they run on. */
const byMachine = 'machine';

export interface NodeSetSetup extends NodeSetOptions {
  readonly workers: number;
  /** Triggered with the key of a Controller when its Slurm changed. */
  readonly slurmChanges: ChannelSource;
}

export function setupNodeSets(manager: Manager, gateways: GatewayFinder, options: NodeSetSetup): void {
  const { cache } = manager;
  const setsOf = (namespace: string | undefined, controller: string): ObjectRef[] =>
    cache
      .list(nodeSets, { namespace })
      .filter((set) => set.spec.controllerRef.name === controller)
      .map((set) => set.metadata);
  cache
    .informer(pods)
    .addIndex(byMachine, (pod) => (pod.spec?.nodeName === undefined ? [] : [pod.spec.nodeName]));
  const setsOn = (node: string): ObjectRef[] => {
    const owners = cache
      .byIndex(pods, byMachine, node)
      .flatMap((pod) =>
        (pod.metadata.ownerReferences ?? [])
          .filter((owner) => owner.kind === 'NodeSet')
          .map((owner) => ({ namespace: pod.metadata.namespace, name: owner.name })),
      );
    const daemons = cache
      .list(nodeSets)
      .filter((set) => set.spec.scalingMode === 'DaemonSet')
      .map((set) => set.metadata);
    return [...owners, ...daemons];
  };
  const setsWithSecret = (namespace: string | undefined, secret: string): ObjectRef[] => {
    const keyed = cache
      .list(controllers, { namespace })
      .filter(({ metadata, spec }) =>
        [spec.slurmKeyRef?.name, resourceName.slurmKeys(metadata.name)].includes(secret),
      )
      .flatMap(({ metadata }) => setsOf(namespace, metadata.name));
    const ssh = cache
      .list(nodeSets, { namespace })
      .filter(({ spec }) => spec.ssh?.sssdConfRef?.name === secret);
    return [...keyed, ...ssh.map(({ metadata }) => metadata)];
  };
  manager
    .controller('nodeset-controller')
    .for(nodeSets)
    .owns(pods)
    // An orphan tells by its labels whose it could be.
    .watches(pods, (pod) => {
      const set = pod.metadata.labels?.[label.instance];
      const orphan = pod.metadata.labels?.[label.name] === app.worker && controllerOf(pod) === undefined;
      return orphan && set !== undefined ? [{ namespace: pod.metadata.namespace, name: set }] : [];
    })
    .owns(controllerRevisions)
    .owns(configMaps)
    .watches(nodes, (node) => setsOn(node.metadata.name), { predicate: machineChanged })
    .watches(controllers, (controller) => setsOf(controller.metadata.namespace, controller.metadata.name))
    .watches(persistentVolumeClaims, (claim) => {
      const set = claim.metadata.labels?.[label.instance];
      const isOfWorker = claim.metadata.labels?.[label.name] === app.worker;
      return set === undefined || !isOfWorker ? [] : [{ namespace: claim.metadata.namespace, name: set }];
    })
    .watches(secrets, ({ metadata: { namespace, name } }) => setsWithSecret(namespace, name), {
      cache: { transform: digestData },
    })
    .watches(services, (service) =>
      setsOf(service.metadata.namespace, service.metadata.labels?.[label.cluster] ?? ''),
    )
    .watches(podDisruptionBudgets, (budget) =>
      setsOf(budget.metadata.namespace, budget.metadata.labels?.[label.cluster] ?? ''),
    )
    .source({
      start: (enqueue, signal) =>
        options.slurmChanges.start((key) => {
          const slash = key.indexOf('/');
          for (const ref of setsOf(key.slice(0, slash), key.slice(slash + 1)))
            enqueue(`${ref.namespace}/${ref.name}`);
        }, signal),
    })
    .options({ workers: options.workers })
    .reconcile(nodeSetReconciler(manager, gateways, options));
}
