/**
 * Faults of a control plane: each is injected into real daemons and evaluated by comparing what
 * Kubernetes knows (`known`) with what our conditions report (`told`). `repair` undoes the cause and nothing else.
 */
import { conditionType } from '@slurm-operator/api';
import { deployments, nodes, pods } from '@slurm-operator/kube';
import { accountings, clusters, controllers, restApis } from '@slurm-operator/operator';
import { signJwt } from '@slurm-operator/slurm';
import { isGiven } from '../given/given-cluster.ts';
import { signalDaemon } from '../processes.ts';
import { namespace } from '../slurm-stage.ts';
import { until } from '../until.ts';
import type { ControlPlane } from './control-plane.ts';

export interface Fault {
  readonly name: string;
  /** It needs more than the Kubernetes API, and why. */
  readonly needsMachine?: string;
  strike(plane: ControlPlane): Promise<void>;
  /** Kubernetes knows it. */
  known(plane: ControlPlane): Promise<boolean>;
  /** Our conditions say it. */
  told(plane: ControlPlane): Promise<boolean>;
  repair(plane: ControlPlane): Promise<void>;
  /** Everything is healthy again after `repair` alone. */
  healed(plane: ControlPlane): Promise<boolean>;
}

const nothing = (): Promise<void> => Promise.resolve();

const anyReady = async (plane: ControlPlane, app: string): Promise<boolean> =>
  (await plane.podsOf(app)).some((pod) =>
    pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
  );

const says = async (
  plane: ControlPlane,
  resource: Parameters<ControlPlane['condition']>[0],
  type: string,
  status: string,
  words = /(?:)/,
  name = 'slurm',
): Promise<boolean> => {
  const found = await plane.condition(resource, name, type);
  return found?.status === status && words.test(`${found.reason}: ${found.message}`);
};

const allReady = async (plane: ControlPlane): Promise<boolean> => {
  for (const resource of [controllers, restApis, accountings, clusters])
    if (!(await says(plane, resource, conditionType.ready, 'True'))) return false;
  return says(plane, clusters, conditionType.degraded, 'False');
};

/** What a failed wait for health reports: conditions that are not as they should be, and containers that do not run. */
async function unhealthy(plane: ControlPlane): Promise<string> {
  const found: string[] = [];
  const kinds: readonly Parameters<ControlPlane['condition']>[0][] = [
    controllers,
    restApis,
    accountings,
    clusters,
  ];
  for (const resource of kinds) {
    const ready = await plane.condition(resource, 'slurm', conditionType.ready);
    if (ready?.status !== 'True') found.push(`${resource.kind}: ${ready?.reason}: ${ready?.message}`);
  }
  const degraded = await plane.condition(clusters, 'slurm', conditionType.degraded);
  if (degraded?.status !== 'False') found.push(`Cluster is degraded: ${degraded?.message}`);
  for (const { metadata, spec, status } of (await plane.stage.client.list(pods, { namespace })).items)
    for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
      if (!container.ready)
        found.push(
          `${metadata.name}/${container.name} on ${spec?.nodeName ?? 'no node'}: ${JSON.stringify(container.state)}, ${container.restartCount} restarts, before: ${JSON.stringify(container.lastState)}`,
        );
  return found.join('\n');
}

/** A pod that is deleted stays away: no node takes new ones, or on a cluster of others, no quota allows them. */
const refusePods = async (plane: ControlPlane, isRefused: boolean): Promise<void> => {
  const { client } = plane.stage;
  if (!isGiven) {
    for (const { name } of plane.stage.cluster.nodes)
      await client.mergePatch(nodes, { name }, { spec: { unschedulable: isRefused } });
    return;
  }
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  const body = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'no-pods' },
    spec: { hard: { pods: '0' } },
  };
  if (isRefused) await client.json('POST', path, { body });
  else await client.json('DELETE', `${path}/no-pods`);
};

const withoutRoom = (app: string): Pick<Fault, 'strike' | 'known' | 'repair' | 'healed'> => ({
  async strike(plane) {
    await refusePods(plane, true);
    for (const { metadata } of await plane.podsOf(app))
      await plane.stage.client.delete(pods, { namespace, name: metadata.name }, { gracePeriodSeconds: 1 });
  },
  known: async (plane) => !(await anyReady(plane, app)),
  repair: (plane) => refusePods(plane, false),
  healed: allReady,
});

let lostNode = '';

let [killedAt, restartsBefore] = [0, 0];
const restarts = async (plane: ControlPlane): Promise<number> =>
  (await plane.podsOf('slurmctld'))[0]?.status?.containerStatuses?.[0]?.restartCount ?? 0;

/** It is back after a second or two: who looks seldom sees it only by what is written about that moment. */
const slurmctldKilled: Fault = {
  name: 'slurmctld_killed',
  async strike(plane) {
    [killedAt, restartsBefore] = [Math.floor(Date.now() / 1000) * 1000, await restarts(plane)];
    const ref = { namespace, name: 'slurm-controller-0' };
    await signalDaemon(plane.stage.client, ref, 'slurmctld', 'KILL');
  },
  known: async (plane) => !(await anyReady(plane, 'slurmctld')) || (await restarts(plane)) > restartsBefore,
  async told(plane) {
    const ready = await plane.condition(controllers, 'slurm', conditionType.ready);
    return ready?.status === 'False' || Date.parse(ready?.lastTransitionTime ?? '') >= killedAt;
  },
  repair: nothing,
  healed: allReady,
};

const nodeLost: Fault = {
  name: 'slurmctld_node_lost',
  needsMachine: 'it powers off a node',
  async strike(plane) {
    const pod = await plane.stage.client.get(pods, { namespace, name: 'slurm-controller-0' });
    lostNode = pod.spec?.nodeName ?? '';
    await plane.stage.cluster.node(lostNode).stop();
  },
  async known(plane) {
    const node = await plane.stage.client.get(nodes, { name: lostNode });
    return node.status?.conditions?.find(({ type }) => type === 'Ready')?.status !== 'True';
  },
  told: (plane) => says(plane, controllers, conditionType.ready, 'False', new RegExp(lostNode)),
  repair: (plane) => plane.stage.cluster.node(lostNode).start(),
  healed: allReady,
};

const slurmrestdDown: Fault = {
  name: 'slurmrestd_down',
  ...withoutRoom('slurmrestd'),
  told: async (plane) =>
    (await says(plane, restApis, conditionType.ready, 'False')) &&
    (await says(plane, clusters, conditionType.ready, 'False')) &&
    says(plane, controllers, conditionType.slurmConnected, 'False'),
};

const slurmdbdDown: Fault = {
  name: 'slurmdbd_down',
  ...withoutRoom('slurmdbd'),
  told: async (plane) =>
    (await says(plane, accountings, conditionType.ready, 'False')) &&
    says(plane, clusters, conditionType.degraded, 'True', /Accounting slurm/),
};

const mariadbDown: Fault = {
  name: 'mariadb_down',
  strike: async (plane) => void (await plane.patch(deployments, 'mariadb', { spec: { replicas: 0 } })),
  known: async (plane) => !(await anyReady(plane, 'mariadb')),
  told: async (plane) =>
    (await says(plane, accountings, conditionType.databaseReachable, 'False')) &&
    (await says(plane, accountings, conditionType.ready, 'False', /mariadb/)) &&
    says(plane, clusters, conditionType.degraded, 'True', /Accounting slurm/),
  repair: async (plane) => void (await plane.patch(deployments, 'mariadb', { spec: { replicas: 1 } })),
  healed: allReady,
};

const token = (key: Buffer): string =>
  signJwt({ key, user: 'slurm', lifetimeSeconds: 3600, now: Date.now() });

/** A second Cluster that was written by hand: its token comes from a Secret that another program fills. */
const wrongKey: Fault = {
  name: 'wrong_jwt_key',
  strike: async (plane) =>
    void (await plane.rewrite('outside', { SLURM_JWT: token(Buffer.alloc(32, 'another key')) })),
  known: () => Promise.resolve(true),
  told: (plane) => says(plane, clusters, conditionType.ready, 'False', /AuthenticationFailed/, 'outside'),
  repair: async (plane) => void (await plane.rewrite('outside', { SLURM_JWT: token(plane.stage.jwtKey) })),
  healed: async (plane) =>
    (await says(plane, clusters, conditionType.ready, 'True', undefined, 'outside')) && allReady(plane),
};

/** Makes that second Cluster. */
export async function connectFromOutside(plane: ControlPlane): Promise<void> {
  const server = `http://${await plane.addressOf('slurm-restapi')}:6820`;
  await plane.secret('outside', { SLURM_JWT: token(plane.stage.jwtKey) });
  await plane.create(clusters, 'outside', { spec: { server, tokenSecretRef: { name: 'outside' } } });
  await plane.ready(clusters, 'outside');
}

export const faults: readonly Fault[] = [
  slurmctldKilled,
  slurmrestdDown,
  slurmdbdDown,
  mariadbDown,
  wrongKey,
  nodeLost,
];

export interface Course {
  /** Seconds from what Kubernetes knew to what our conditions said. */
  readonly truthSeconds: number;
  /** Seconds from the repair until everything is healthy. */
  readonly healSeconds: number;
}

/** Injects the fault, waits until it is reported, repairs it, and waits until everything is healthy. */
export async function runFault(plane: ControlPlane, fault: Fault): Promise<Course> {
  let knownAt: number | undefined;
  let toldAt: number | undefined;
  await fault.strike(plane);
  try {
    await until(
      `${fault.name} to be told`,
      async () => {
        knownAt ??= (await fault.known(plane)) ? performance.now() : undefined;
        // What is told before Kubernetes knows it counts, too: we ask Slurm itself.
        toldAt ??= (await fault.told(plane)) ? performance.now() : undefined;
        return knownAt !== undefined && toldAt !== undefined;
      },
      { everyMs: 50 },
    );
  } catch (error) {
    // The next faults need a control plane without this one.
    await fault.repair(plane);
    throw error;
  }
  await fault.repair(plane);
  const repairedAt = performance.now();
  // A killed slurmctld forgets a worker that registered after its last save. That one is replaced five minutes after slurmctld started.
  await until(`health after ${fault.name}`, () => fault.healed(plane), {
    seconds: 900,
    seen: () => unhealthy(plane),
  });
  return {
    truthSeconds: Math.max(0, (toldAt ?? 0) - (knownAt ?? 0)) / 1000,
    healSeconds: (performance.now() - repairedAt) / 1000,
  };
}
