/** When a vacant slot gets its worker: not before the record of a predecessor fits, and not where slurm.conf has no room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { featurePrefix } from '@slurm-operator/api';
import { now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { Observed, SlurmNode } from '../model/observed.ts';
import { planWorkers as plan } from './plan-workers.ts';

const drained = { flags: new Set(['DRAIN']), reason: 'slurm-operator: going' };
const decide = (node: Partial<SlurmNode>, over: Partial<Observed> = {}) => {
  const given = observed([], [slurmNode(0, node)], { replicas: 1, features: ['w', 'new'], ...over });
  const { actions, withheld, wakeAt } = plan(given, now);
  return { kinds: actions.map(({ kind }) => kind), withheld: withheld.join(), wakeAt };
};

test('a record with the features of an older configuration is deleted before the successor is created', () => {
  const outdated = decide({ ...drained, features: ['w', 'old'] });
  assert.deepEqual(outdated.kinds, ['delete-record']);
  assert.match(outdated.withheld, /w-0 is not created yet: Slurm's record of its predecessor/);
  assert.deepEqual(decide({ ...drained, features: ['w', 'new'] }).kinds, ['create-worker']);
});

test('so is a record of another size', () => {
  const size = { cpus: 2, memory: undefined, gpus: undefined };
  const features = ['w', 'new'];
  const recorded = (cpus: number) => ({ ...drained, features, size: { cpus, memory: 1, gpus: 0 } });
  assert.deepEqual(decide(recorded(4), { size }).kinds, ['delete-record']);
  assert.deepEqual(decide(recorded(2), { size }).kinds, ['create-worker']);
});

test('it stays, and the slot vacant, while a pending job asks for a feature that its successor does not have', () => {
  const asking = (feature: string, name: string): Partial<Observed> => ({
    pendingNeeds: { kind: 'known', jobs: [{ id: '7', nodes: [name], features: [feature] }] },
  });
  const old = { ...drained, features: ['w', 'old', `${featurePrefix}nvlink`] };
  const needed = decide(old, asking('old', 'other'));
  assert.deepEqual(needed.kinds, []);
  assert.match(needed.withheld, /w-0 is not created yet: Slurm's record of its predecessor/);
  assert.ok(needed.wakeAt !== undefined && needed.wakeAt > now, 'it looks again');
  const unknown = decide(old, { pendingNeeds: { kind: 'unknown', why: 'no answer' } });
  assert.deepEqual(unknown.kinds, []);
  for (const [feature, name] of [
    ['w', 'other'],
    ['new', 'other'],
    [`${featurePrefix}nvlink`, 'other'],
    ['x', 'w-0'],
  ] as const)
    assert.deepEqual(decide(old, asking(feature, name)).kinds, ['delete-record'], `${feature} of ${name}`);
  const size = { cpus: 2, memory: undefined, gpus: undefined };
  const larger = { ...drained, features: ['w', 'new'], size: { cpus: 4, memory: 1, gpus: 0 } };
  assert.deepEqual(
    decide(larger, { size, ...asking('new', 'other') }).kinds,
    ['delete-record'],
    'its job waits for the successor',
  );
});

test('another record without a worker that has the feature stays instead: no slot waits for it', () => {
  const records = ['w-0', 'x-9'].map((name) => slurmNode(0, { ...drained, name, features: ['w', 'old'] }));
  const jobs = [{ id: '7', nodes: [], features: ['old'] }];
  const given = observed([], records, {
    replicas: 1,
    features: ['w', 'new'],
    pendingNeeds: { kind: 'known', jobs },
  });
  const { actions, keptRecords } = plan(given, now);
  assert.deepEqual(actions, [{ kind: 'delete-record', slurmName: 'w-0' }]);
  assert.deepEqual(keptRecords, [{ name: 'x-9', jobs: ['7'], why: 'feature' }]);
});

test('a record that must stay does not keep the slot vacant', () => {
  const features = ['w', 'old'];
  assert.deepEqual(decide({ features, flags: new Set(['DRAIN']), reason: 'bad disk' }).kinds, [
    'create-worker',
  ]);
  assert.deepEqual(decide({ ...drained, features, base: 'ALLOCATED' }).kinds, ['create-worker']);
});

test('a worker is marked while a job may wait for it: Slurm has a node of its name, or may have one', () => {
  const isMarked = (over: Partial<Observed>, nodes: SlurmNode[]) =>
    plan(observed([], nodes, { replicas: 1, ...over }), now).actions.flatMap((action) =>
      action.kind === 'create-worker' ? [action.forWakeUp === true] : [],
    );
  const awaited = slurmNode(0, { base: 'ALLOCATED', flags: new Set(['CLOUD', 'POWERING_UP']) });
  assert.deepEqual(isMarked({}, [awaited]), [true], 'autoscaling was switched off');
  assert.deepEqual(isMarked({}, []), [false]);
  assert.deepEqual(isMarked({ slurm: { kind: 'unknown', since: 0, why: 'down' } }, []), [true]);
  assert.deepEqual(isMarked({ lastWrites: new Map([['w-0', now + 1]]) }, []), [true], 'an older list');
});

test('no worker is created that MaxNodeCount of slurm.conf has no room for', () => {
  const three = observed([worker(0)], [slurmNode(0)], { replicas: 3, room: { limit: 2, free: 1 } });
  const { actions, withheld, wakeAt } = plan(three, now);
  assert.deepEqual(
    actions.map(({ kind }) => kind),
    ['create-worker'],
  );
  assert.match(withheld.join(), /w-2 is not created: MaxNodeCount=2 in slurm.conf leaves no room/);
  assert.ok(wakeAt !== undefined && wakeAt > now, 'it looks again');
  const returning = observed([], [slurmNode(0)], { replicas: 1, room: { limit: 1, free: 0 } });
  assert.deepEqual(
    plan(returning, now).actions.map(({ kind }) => kind),
    ['create-worker'],
    'a name that Slurm has needs no room',
  );
});
