import assert from 'node:assert/strict';
import { test } from 'node:test';
import { label, type NodeSet } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import type { SlurmNode } from '@slurm-operator/slurm';
import { aController, aNodeSet } from '../../testing/objects.ts';
import { revisionHash } from '../dry-run.ts';
import { workerPod } from '../kinds/nodeset/objects/worker-pod.ts';
import { workerTemplate } from '../kinds/nodeset/objects/worker-template.ts';
import { instanceTypeOf } from '../slurm-config/render/slurmd-conf.ts';
import { type PlannedJob, planRollout } from './rollout-plan.ts';

const now = Date.UTC(2026, 0, 2);
const minute = 60_000;
const created = new Date(now - 600 * minute).toISOString();
const readyAt = new Date(now - 600 * minute + 20_000).toISOString();
const controller = aController();
const defaults = { clusterDomain: 'cluster.local', defaultImage: 'slurmd:26.05' };

const nodeSetOf = (spec: object = {}) =>
  aNodeSet({
    replicas: 3,
    updateStrategy: { rollingUpdate: { maxUnavailable: 1 } },
    ...spec,
  });

/** Workers that run, with the revision of the NodeSet or an older one. */
function podOf(nodeSet: NodeSet, ordinal: number, revision: string): Live {
  const hostname = `compute-${ordinal}`;
  const slot = { mode: 'StatefulSet', ordinal } as const;
  const template = workerTemplate(nodeSet, controller, defaults);
  const pod = workerPod(nodeSet, template, { slot, hostname, revision, hashes: {}, pinnedTo: undefined });
  return {
    ...pod,
    metadata: { ...pod.metadata, uid: `pod-${ordinal}`, resourceVersion: '1', creationTimestamp: created },
    spec: { ...pod.spec, nodeName: `machine-${ordinal}` },
    status: {
      phase: 'Running',
      podIP: `10.0.0.${ordinal}`,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: readyAt }],
      containerStatuses: [
        { name: 'slurmd', ready: true, restartCount: 0, state: { running: { startedAt: readyAt } } },
      ],
    },
  } as unknown as Live; // as the API server stores it
}

const machine = (ordinal: number) =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `machine-${ordinal}`, uid: `m-${ordinal}`, labels: {} },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  }) as unknown as Live; // the fields that a plan reads

const slurmNodeOf = (nodeSet: NodeSet, ordinal: number, busy: boolean) =>
  ({
    name: `compute-${ordinal}`,
    state: { base: busy ? 'ALLOCATED' : 'IDLE', flags: new Set() },
    reason: '',
    comment: '',
    features: [],
    activeFeatures: [],
    topology: '',
    cpus: 4,
    memory: 8_000,
    gres: '',
    gresUsed: '',
    address: `10.0.0.${ordinal}`,
    instanceId: `pod-${ordinal}`,
    instanceType: instanceTypeOf(nodeSet.metadata.uid),
    reservation: '',
    partitions: ['all'],
    slurmdStartedAt: now - 599 * minute,
  }) as unknown as SlurmNode; // the fields that a plan reads

const job = (id: number, nodes: string, limit: number): PlannedJob => ({
  key: String(id),
  user: 'alice',
  partition: 'all',
  nodes,
  startedAt: now - 10 * minute,
  timeLimit: limit,
  suspended: false,
});

function plan({ old = 3, jobs = [] as readonly PlannedJob[], set = nodeSetOf(), workers = 3 } = {}) {
  const current = revisionHash(set);
  const ordinals = Array.from({ length: workers }, (_, ordinal) => ordinal);
  const pods = ordinals.map((ordinal) => podOf(set, ordinal, ordinal < old ? 'before' : current));
  const busy = new Set(jobs.flatMap(({ nodes }) => nodes));
  const objects: Readonly<Record<string, readonly Live[]>> = {
    pods,
    nodesets: [set],
    nodes: ordinals.map(machine),
    controllers: [controller],
  };
  assert.ok(pods.every(({ metadata }) => metadata.labels?.[label.podHostname] !== undefined));
  return planRollout({
    nodeSet: set,
    list: (plural) => objects[plural] ?? [],
    slurmNodes: ordinals.map((ordinal) => slurmNodeOf(set, ordinal, busy.has(`compute-${ordinal}`))),
    jobs,
    now,
  });
}

test('where every worker has the newest revision there is no plan', () => {
  assert.equal(plan({ old: 0 }), undefined);
});

test('idle workers are replaced one after the other, as fast as their pods start', () => {
  const made = plan();
  assert.deepEqual([made?.create, made?.replace, made?.remove], [0, 3, 0]);
  assert.equal(made?.lowestAvailable, 2);
  assert.deepEqual(made?.endless, []);
  assert.equal(made?.lastJob, undefined);
  assert.equal(made?.earliestAt, made?.latestAt, 'nothing to wait for');
  const took = (made?.earliestAt ?? 0) - now;
  // Three starts of 20 s, as the pods there took, and three ends.
  assert.ok(took >= 60_000 && took < 10 * minute, `${took} ms`);
});

test('a job moves the latest end, and is named', () => {
  const made = plan({ jobs: [job(7, 'compute-1', 120)] });
  assert.equal(made?.lastJob?.id, '7');
  assert.deepEqual(made?.lastJob?.nodes, ['compute-1']);
  assert.ok((made?.latestAt ?? 0) >= now + 110 * minute, 'not before its limit');
  assert.ok((made?.earliestAt ?? Number.POSITIVE_INFINITY) < now + 30 * minute, 'soon, if it ended now');
});

test('a job without a limit has no end, and is said to be the reason', () => {
  const made = plan({ jobs: [job(8, 'compute-0', -1)] });
  assert.equal(made?.latestAt, undefined);
  assert.deepEqual(made?.endless, [{ id: '8', user: 'alice' }]);
});

test('jobs of other nodes do not matter', () => {
  const made = plan({ jobs: [job(9, 'elsewhere-[0-3]', -1)] });
  assert.deepEqual([made?.endless, made?.lastJob], [[], undefined]);
});

test('a set that is too large to simulate while a page waits has no plan', () => {
  assert.equal(plan({ workers: 401, old: 401, set: nodeSetOf({ replicas: 401 }) }), undefined);
});
