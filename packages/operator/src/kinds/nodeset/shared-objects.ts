/** Objects that all NodeSets of a Controller share: the headless Service of the workers and the budget that protects busy ones. */
import { app, type Controller, label, type NodeSet, port, resourceName } from '@slurm-operator/api';
import {
  configMaps,
  covers,
  type Manager,
  type OwnedApplier,
  podDisruptionBudgets,
  services,
} from '@slurm-operator/kube';
import { objectLabels } from '../../objects/labels.ts';
import { workerSshConfig } from './objects/worker-ssh.ts';

type Shared = Pick<Manager, 'cache' | 'client'> & { readonly owned: OwnedApplier };

function metadataFor(name: string, controller: Controller) {
  return {
    name,
    namespace: controller.metadata.namespace,
    labels: objectLabels('worker', controller.metadata.name, controller.metadata.name),
    // Owned by the Controller that they belong to: they outlive any one NodeSet and vanish with the cluster.
    ownerReferences: [
      {
        apiVersion: controller.apiVersion,
        kind: controller.kind,
        name: controller.metadata.name,
        uid: controller.metadata.uid,
      },
    ],
  };
}

export function workersService(controller: Controller) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataFor(resourceName.workers(controller.metadata.name), controller),
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: { [label.name]: app.worker, [label.cluster]: controller.metadata.name },
      ports: [{ name: app.worker, port: port.slurmd, targetPort: app.worker }],
    },
  };
}

/**
 * While a node has work no eviction of its pod is allowed; the label comes and goes with the work. By a number that is never reached
 * and not by `maxUnavailable: 0`: that one is counted from the replicas that are wanted, so during a scale-in Kubernetes would
 * allow as many busy workers to be evicted as are to go.
 */
export function workersBudget(controller: Controller) {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadataFor(resourceName.workersBudget(controller.metadata.name), controller),
    spec: {
      minAvailable: neverReached,
      selector: { matchLabels: { [label.podProtect]: 'true', [label.cluster]: controller.metadata.name } },
    },
  };
}

/** The largest that the field takes. */
const neverReached = 2 ** 31 - 1;

/** The shared ones are created where missing: they depend on nothing that changes, so a live one is left alone. */
export async function syncShared(
  nodeSet: NodeSet,
  controller: Controller,
  { cache, client, owned }: Shared,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = nodeSet.metadata;
  const service = workersService(controller);
  if (cache.get(services, { namespace, name: service.metadata.name }) === undefined)
    await client.apply(services, service as never, { signal });
  const budget = workersBudget(controller);
  const live = cache.get(podDisruptionBudgets, { namespace, name: budget.metadata.name });
  if (live === undefined) await client.apply(podDisruptionBudgets, budget as never, { signal });
  else if (!covers(live.spec, budget.spec)) {
    // Another operator's: as a whole, since the two ways to say it exclude each other.
    const body = [{ op: 'replace' as const, path: '/spec', value: budget.spec }];
    await client.patch(podDisruptionBudgets, live.metadata, { type: 'json', body }, { signal });
  }
  const ssh = workerSshConfig(nodeSet);
  if (ssh !== undefined) await owned.apply(configMaps, nodeSet, ssh, { signal });
}
