/** All that a NodeSet has left in Kubernetes and in Slurm, without what no two applies share. */
import type { Client } from '@slurm-operator/kube';
import { steady } from '@slurm-operator/operator/testing';
import type { SlurmClient } from '@slurm-operator/slurm';
import { namespace } from '../slurm-stage.ts';
import { isForeign } from './neighbours.ts';

/** Identity, versions and times; where things were placed; and how often something was tried on the way. */
const fleeting = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'observedGeneration',
  'managedFields',
  'creationTimestamp',
  'lastTransitionTime',
  'lastProbeTime',
  'startTime',
  'startedAt',
  'finishedAt',
  'revision',
  'clusterIP',
  'clusterIPs',
  'nodeName',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'containerID',
  'restartCount',
  'lastState',
  // Whether Slurm had a node of its name when the pod was created.
  'nodeset.slinky.slurm.net/wake-up',
  // A worker keeps those that it was created with: they keep an autoscaler of machines from it.
  'cluster-autoscaler.kubernetes.io/safe-to-evict',
  'karpenter.sh/do-not-disrupt',
  'disruptionsAllowed',
]);

export async function endState(client: Client, slurm: SlurmClient): Promise<Record<string, unknown>> {
  const list = async (path: string) =>
    (await client.json<{ items: { metadata: { name: string } }[] }>('GET', path)).items;
  const base = `/api/v1/namespaces/${namespace}`;
  const workers = `labelSelector=${encodeURIComponent('app.kubernetes.io/name=slurmd')}`;
  const kinds = {
    pods: (await list(`${base}/pods?${workers}`)).map(withoutRandomName).map(withoutStandby),
    claims: await list(`${base}/persistentvolumeclaims?${workers}`),
    services: await list(`${base}/services`),
    budgets: await list(`/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`),
    revisions: await list(`/apis/apps/v1/namespaces/${namespace}/controllerrevisions?${workers}`),
    slurmConf: (await list(`${base}/configmaps`)).filter(({ metadata }) => metadata.name === 'main-config'),
    nodeSets: await list(`/apis/slinky.slurm.net/v1beta1/namespaces/${namespace}/nodesets`),
  };
  const own = (await slurm.nodes.list()).items.filter(({ name }) => !isForeign(name));
  const nodes = own.map((node) => ({
    name: node.name,
    // A record that was created for an autoscaled NodeSet is used on without autoscale.
    state: [node.state.base, ...node.state.flags].filter((flag) => flag !== 'CLOUD').toSorted(),
    // Slurm 24.11 keeps the reason of a drain that is over.
    reason: node.state.flags.has('DRAIN') || node.state.base === 'DOWN' ? node.reason : '',
    features: node.features,
    activeFeatures: node.activeFeatures,
    // It names the machine, and the pod, which has a random name where there is one per machine.
    comment: node.comment.replaceAll(/"(node|podName)":"[^"]*"/g, ''),
    topology: node.topology,
    cpus: node.cpus,
    memory: node.memory,
    gres: node.gres,
    partitions: node.partitions,
  }));
  return steady({ ...kinds, slurm: nodes }, fleeting) as Record<string, unknown>;
}

/** Of a worker that is one per machine. */
function withoutRandomName<T extends { metadata: { name: string; generateName?: string } }>(pod: T): T {
  const { generateName } = pod.metadata;
  return generateName === undefined ? pod : { ...pod, metadata: { ...pod.metadata, name: generateName } };
}

/** A worker that started while there was a standby looks for slurmctld there too, until it is replaced for another reason. */
function withoutStandby<T>(pod: T): T {
  const text = JSON.stringify(pod).replaceAll(
    /"(main-controller-0\.[^",]*),main-controller-1\.[^",]*"/g,
    '"$1"',
  );
  return JSON.parse(text) as T;
}

/** Where two states differ, as paths; empty when they are equal. */
export function differences(left: unknown, right: unknown, path = ''): string[] {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return left === right ? [] : [`${path}: ${JSON.stringify(left)} and ${JSON.stringify(right)}`];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].flatMap((key) =>
    differences(
      (left as Record<string, unknown>)[key],
      (right as Record<string, unknown>)[key],
      `${path}/${key}`,
    ),
  );
}
