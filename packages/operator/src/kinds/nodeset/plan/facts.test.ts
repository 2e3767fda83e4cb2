/** What is written to a worker's Slurm node, and what happens when Slurm refuses it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeNode, now, observed, slurmNode, withoutJobs, worker } from '../../../../testing/observed.ts';
import type { KubeNode, Observed, Refusal, SlurmNode } from '../model/observed.ts';
import { slurmFacts, standingRefusal } from './facts.ts';
import { planWorkers } from './plan-workers.ts';

const machine = (over: Partial<KubeNode>) => kubeNode('n0', { topology: 'topo:nowhere', ...over });
const refusal: Refusal = { topology: 'topo:nowhere', message: 'Invalid topology', until: now + 60_000 };

function given({ on = {}, node = {}, refused = refusal, over = {} }: Given = {}): Observed {
  const nodes = new Map([['n0', machine(on)]]);
  const refusals = new Map(refused === null ? [] : [['w-0', refused] as const]);
  return observed([worker(0)], [slurmNode(0, node)], { nodes, refusals, ...over });
}

interface Given {
  readonly on?: Partial<KubeNode>;
  readonly node?: Partial<SlurmNode>;
  readonly refused?: Refusal | null;
  readonly over?: Partial<Observed>;
}

const facts = (from: Given, at = now) => slurmFacts(worker(0), given(from), at);
const nothing = { actions: [], wakeAt: undefined };
const asked = (change: object) => [{ kind: 'update-node', slurmName: 'w-0', ...change }];

test('a refused topology waits for its time, and is asked for then', () => {
  assert.deepEqual(facts({ refused: null }), {
    actions: asked({ topology: 'topo:nowhere' }),
    wakeAt: undefined,
  });
  assert.deepEqual(facts({}), { actions: [], wakeAt: now + 60_000 });
  assert.deepEqual(facts({}, now + 60_000), {
    actions: asked({ topology: 'topo:nowhere' }),
    wakeAt: undefined,
  });
});

test('what else is to be noted does not wait for it', () => {
  assert.deepEqual(facts({ on: { features: ['gen5'] } }).actions, asked({ features: ['k8s/gen5'] }));
});

test('an annotation that changed is asked for at once; one that is gone asks for nothing', () => {
  assert.deepEqual(facts({ on: { topology: 'topo:rack1' } }).actions, asked({ topology: 'topo:rack1' }));
  assert.deepEqual(facts({ on: { topology: undefined } }), nothing);
});

test('an update without a topology that is refused waits as a whole', () => {
  const whole = { ...refusal, topology: undefined };
  const from = { refused: whole, on: { topology: undefined, features: ['gen5'] } };
  assert.deepEqual(facts(from), { actions: [], wakeAt: now + 60_000 });
});

test('a refusal stands while the same is desired and Slurm has something else, also when its time has come', () => {
  const stands = (from: Given) => standingRefusal(worker(0), given(from)) !== undefined;
  assert.ok(stands({}));
  assert.ok(
    stands({ over: { lastWrites: new Map([['w-0', now]]) } }),
    'the try that was refused changed nothing',
  );
  assert.ok(stands({ refused: { ...refusal, until: now - 1 } }));
  assert.ok(!stands({ node: { topology: 'topo:nowhere' } }), 'Slurm accepts it now');
  assert.ok(!stands({ on: { topology: 'topo:rack1' } }));
  assert.ok(!stands({ refused: null }));
});

test('nothing is noted before the slurmd of this very pod has registered', () => {
  assert.deepEqual(facts({ refused: null, node: { flags: new Set(['NOT_RESPONDING']) } }), nothing);
  assert.deepEqual(facts({ refused: null, over: { lastWrites: new Map([['w-0', now]]) } }), nothing);
});

const kindsOf = (from: Observed) => planWorkers(from, now).actions.map((action) => action.kind);

test('upstream item 21: neither the state nor an administrator’s topology is touched when a pod moves', () => {
  const moved = slurmNode(0, { comment: '{}', topology: 'admin:rack' });
  const actions = planWorkers(observed([worker(0)], [moved]), now).actions;
  assert.deepEqual(
    actions.map((action) => action.kind),
    ['update-node'],
  );
  assert.deepEqual(Object.keys(actions[0] ?? {}).toSorted(), ['comment', 'kind', 'slurmName']);
});

test('the topology of a worker that was placed just now waits for what Slurm says of it, but not for long', () => {
  const nodes = new Map([['n0', kubeNode('n0', { topology: 'topo:rack1' })]]);
  const placed = worker(0, { placedAt: now - 1_000, readySince: now, slurmConditions: new Map() });
  const before = planWorkers(observed([placed], [], { nodes }), now);
  assert.deepEqual(before.actions, []);
  assert.equal(before.wakeAt, now + 4_000);
  assert.deepEqual(kindsOf(observed([{ ...placed, placedAt: now - 5_000 }], [], { nodes })), [
    'patch-worker',
  ]);
  assert.deepEqual(
    planWorkers(observed([placed], [slurmNode(0)], { nodes }), now).actions.map((action) => action.kind),
    ['patch-worker', 'mirror-state', 'update-node'],
  );
});

test('a busy worker is protected from eviction, unless the user does not want that', () => {
  const busy = slurmNode(0, { base: 'MIXED', deadline: now + 60_000 });
  const protects = (over: Partial<Observed>) =>
    planWorkers(observed([worker(0)], [busy], over), now).actions.some(
      (action) => action.kind === 'patch-worker' && action.protect === true,
    );
  assert.ok(protects({}));
  assert.ok(!protects({ protectBusyPods: false }));
});

test('the protection and the deadline of a pod stay while its only job may be suspended', () => {
  const noted = worker(0, {
    protectedFromEviction: true,
    deadline: now + 60_000,
    writtenDeadline: now + 60_000,
  });
  const idle = observed([noted], [slurmNode(0)]);
  const patches = (from: Observed) =>
    planWorkers(from, now).actions.filter(({ kind }) => kind === 'patch-worker');
  assert.equal(patches(idle).length, 1);
  assert.deepEqual(patches(withoutJobs(idle)), []);
});
