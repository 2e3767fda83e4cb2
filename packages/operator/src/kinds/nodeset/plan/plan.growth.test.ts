/** A plan for four times as many workers costs about four times as much, and not sixteen. Counted, not timed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CountedReads } from '../../../../testing/counted-reads.ts';
import { kubeNode, now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { Claim, KubeNode, Observed, SlurmNode, Worker } from '../model/observed.ts';
import { nodeSetStatus } from '../status/status.ts';
import { planWorkers } from './plan-workers.ts';

const small = 100;
const large = 400;
/** Four times, and a little for what is sorted. */
const most = 5.5;

interface Scene {
  readonly workers?: readonly Worker[];
  readonly slurmNodes?: readonly SlurmNode[];
  readonly claims?: readonly Claim[];
  readonly nodes?: readonly KubeNode[];
  readonly over?: Partial<Observed>;
}

const upTo = (count: number) => Array.from({ length: count }, (_, ordinal) => ordinal);

const claim = (ordinal: number, over: Partial<Claim> = {}): Claim => ({
  name: `data-w-${ordinal}`,
  uid: `claim-${ordinal}`,
  slot: { mode: 'StatefulSet', ordinal },
  ownedByNodeSet: false,
  scaledIn: false,
  terminating: false,
  ...over,
});

const machine = (ordinal: number): KubeNode => kubeNode(`n${ordinal}`);

const drained = { flags: new Set(['DRAIN']), reason: 'slurm-operator: going' };

const scenes: Readonly<Record<string, (count: number) => Scene>> = {
  'nothing to do': (count) => ({
    workers: upTo(count).map((ordinal) => worker(ordinal)),
    slurmNodes: upTo(count).map((ordinal) => slurmNode(ordinal)),
  }),
  'scale-out while the claims of former workers are being removed': (count) => ({
    claims: upTo(count).map((ordinal) => claim(ordinal, { terminating: ordinal % 2 === 0 })),
    over: { replicas: count, claimTemplates: ['data'] },
  }),
  'scale-in that deletes claims': (count) => ({
    workers: upTo(count).map((ordinal) => worker(ordinal)),
    slurmNodes: upTo(count).map((ordinal) => slurmNode(ordinal, drained)),
    claims: upTo(count).map((ordinal) => claim(ordinal, { scaledIn: ordinal % 2 === 0 })),
    over: { replicas: 0, retention: { whenScaled: 'Delete', whenDeleted: 'Delete' } },
  }),
  'rollout of all': (count) => ({
    workers: upTo(count).map((ordinal) => worker(ordinal, { revision: 'r0' })),
    slurmNodes: upTo(count).map((ordinal) => slurmNode(ordinal, ordinal % 2 === 0 ? drained : {})),
    over: {
      update: {
        type: 'RollingUpdate',
        maxUnavailable: count / 4,
        partition: 0,
        paused: false,
        reservation: undefined,
      },
    },
  }),
  'workers that Slurm does not know': (count) => ({
    workers: upTo(count).map((ordinal) => worker(ordinal)),
    slurmNodes: upTo(count * 0.6).map((ordinal) => slurmNode(ordinal)),
  }),
  'records of machines that left': (count) => ({
    slurmNodes: upTo(count).map((ordinal) => slurmNode(ordinal)),
    nodes: upTo(count).map(machine),
    over: { scalingMode: 'DaemonSet', pruneRecords: 'NodeNotFound' },
  }),
  deletion: (count) => ({
    workers: upTo(count).map((ordinal) => worker(ordinal)),
    slurmNodes: upTo(count).map((ordinal) => slurmNode(ordinal, drained)),
    over: { deleting: true },
  }),
};

/** What is read of everything that was observed, from the plan to the status. */
function reads(scene: Scene): number {
  const counted = new CountedReads();
  const all = observed([], [], {
    replicas: scene.workers?.length ?? 0,
    ...scene.over,
    workers: counted.list(scene.workers ?? []),
    claims: counted.list(scene.claims ?? []),
    nodes: counted.map((scene.nodes ?? []).map((node) => [node.name, node])),
    slurm: {
      kind: 'known',
      at: now,
      jobsUnknown: undefined,
      controllerStartedAt: 0,
      nodes: counted.map((scene.slurmNodes ?? []).map((node) => [node.name, node])),
    },
  });
  nodeSetStatus(all, planWorkers(all, now), undefined, now);
  return counted.count;
}

describe('what a plan reads grows with the number of workers, not with its square', () => {
  for (const [what, sceneOf] of Object.entries(scenes))
    test(what, () => {
      const [few, many] = [reads(sceneOf(small)), reads(sceneOf(large))];
      assert.ok(few >= small, `only ${few} reads: the scene is empty`);
      assert.ok(many <= few * most, `${few} reads for ${small}, ${many} for ${large}`);
    });
});

test('reads that grow with the square are noticed', () => {
  const among = (count: number) => {
    const counted = new CountedReads();
    const list = counted.list(upTo(count).map((ordinal) => ({ ordinal })));
    for (const ordinal of upTo(count)) list.find((each) => each.ordinal === ordinal);
    return counted.count;
  };
  assert.ok(among(large) > among(small) * most);
});
