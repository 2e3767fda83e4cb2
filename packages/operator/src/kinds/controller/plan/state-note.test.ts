import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aController, aNodeSet, operatorDefaults, podFacts } from '../../../../testing/objects.ts';
import { currentStatefulSet, observedController } from '../../../../testing/observed-controller.ts';
import { noteOfState } from '../../../slurm-config/guard/kept-state.ts';
import { noEvidence } from './config-hold.ts';
import { emptyControllerMemory } from './memory.ts';
import { planController } from './plan.ts';
import { desiredSlurmConf } from './render.ts';
import {
  type AwaitedNodeSets,
  awaitNodeSets,
  missingAgainAfter,
  planStateNotes,
  refusedAgainAfter,
  withWrittenNotes,
} from './state-note.ts';

const conf = 'NodeSet=a Feature=a\nPartitionName=a Nodes=a\n';
const value = noteOfState(conf) ?? null;
const claim = 'statesave-slurm-controller-0';
const volume = (noted: string | undefined) => ({
  template: {},
  names: [claim],
  claims: [
    { name: claim, uid: 'u', requested: '1Gi', capacity: '1Gi', bound: true, message: undefined, noted },
  ],
});
const now = 1_000_000_000;

test('the note is written where it differs, and only there', () => {
  const write = (noted: string | undefined, text: string | undefined = conf, over: object = {}) =>
    planStateNotes(observedController({ volume: volume(noted), ...over }), text, {}, new Map(), now).write;
  assert.deepEqual(write(undefined), [{ claim, value }]);
  assert.deepEqual(write('something else'), [{ claim, value }]);
  assert.deepEqual(write(value ?? ''), []);
  assert.deepEqual(
    planStateNotes(observedController({ volume: volume(undefined) }), undefined, {}, new Map(), now).write,
    [],
    'nothing is in force',
  );
  assert.deepEqual(write(undefined, conf, { statefulSet: { ...currentStatefulSet, exists: false } }), []);
  assert.deepEqual(
    write(undefined, conf, { controller: aController({ persistence: { enabled: false } }) }),
    [],
  );
});

test('a state that was kept is noted before the first configuration is written', () => {
  const observed = observedController({ statefulSet: { ...currentStatefulSet, exists: false } });
  const write = (note: string | undefined) =>
    planStateNotes(observed, conf, { keptState: { claim, note } }, new Map(), now).write;
  assert.deepEqual(write('PartitionName=older'), [{ claim, value }]);
  assert.deepEqual(write(undefined), [{ claim, value }]);
  assert.deepEqual(write(value ?? ''), []);
  assert.deepEqual(planStateNotes(observed, conf, {}, new Map(), now).write, [], 'a new cluster');
});

test('a refused note is written again after five minutes, and shown meanwhile', () => {
  const observed = observedController({ volume: volume(undefined) });
  const written = withWrittenNotes(new Map(), [{ claim, value, at: now, refused: 'no such permission' }]);
  const soon = planStateNotes(observed, conf, {}, written, now + 1_000);
  assert.deepEqual(soon.write, []);
  assert.match(soon.problems[0]?.message ?? '', /no such permission/);
  assert.equal(soon.problems[0]?.stillReady, true);
  assert.deepEqual(soon.againAt, [now + refusedAgainAfter]);
  assert.equal(planStateNotes(observed, conf, {}, written, now + refusedAgainAfter).write.length, 1);
  assert.equal(
    planStateNotes(observed, `${conf}PartitionName=b\n`, {}, written, now + 1_000).write.length,
    1,
  );
});

test('the claim of a user, which is not in the cache, is written once', () => {
  const controller = aController({ persistence: { enabled: true, existingClaim: 'mine' } });
  const observed = observedController({ controller });
  assert.deepEqual(planStateNotes(observed, conf, {}, new Map(), now).write, [{ claim: 'mine', value }]);
  const written = withWrittenNotes(new Map(), [{ claim: 'mine', value, at: now }]);
  assert.deepEqual(planStateNotes(observed, conf, {}, written, now + 60_000).write, []);
  assert.equal(
    planStateNotes(observed, conf, {}, written, now + 7_200_000).write.length,
    1,
    'it may be another one',
  );
});

test('a claim of a user that does not exist is looked for every half minute, not in every reconcile', () => {
  const controller = aController({ persistence: { enabled: true, existingClaim: 'mine' } });
  const observed = observedController({ controller });
  const written = withWrittenNotes(new Map(), [{ claim: 'mine', value, at: now, missing: true }]);
  const soon = planStateNotes(observed, conf, {}, written, now + 1_000);
  assert.deepEqual([soon.write, soon.againAt], [[], [now + missingAgainAfter]]);
  const later = planStateNotes(observed, conf, {}, written, now + missingAgainAfter);
  assert.deepEqual(later.write, [{ claim: 'mine', value }]);
});

test('a claim that was restored without labels, which is not in the cache either, is written once', () => {
  const write = (over: object, memory = new Map(), at = now) =>
    planStateNotes(observedController({ volume: unlabelled, ...over }), conf, {}, memory, at).write;
  const unlabelled = { ...volume(undefined), claims: [] };
  const pods = [podFacts({})];
  assert.deepEqual(write({ pods }), [{ claim, value }]);
  assert.deepEqual(write({}), [], 'the claim of a new cluster does not exist yet');
  assert.deepEqual(
    write({ pods, volume: { ...unlabelled, template: undefined } }),
    [],
    'there is no such claim',
  );
  const written = withWrittenNotes(new Map(), [{ claim, value, at: now }]);
  assert.deepEqual(write({ pods }, new Map(written), now + 60_000), []);
  assert.equal(write({ pods }, new Map(written), now + 7_200_000).length, 1);
});

test('a state is not noted while its first start waits for NodeSets: the note would end that wait', () => {
  const observed = observedController({ statefulSet: { ...currentStatefulSet, exists: false } });
  const text = desiredSlurmConf(observed, operatorDefaults) ?? '';
  const kept = { claim, note: undefined };
  const evidence = { inForce: { text, owners: {} }, slurm: noEvidence.slurm, keptState: kept };
  const plan = (memory: typeof emptyControllerMemory, at: number) =>
    planController(
      {
        ...observed,
        evidence,
        liveStatefulSet: undefined,
        hasConfig: false,
        observationProblems: [],
        memory,
      },
      operatorDefaults,
      at,
    );
  const noted = (actions: readonly { type: string }[]) =>
    actions.filter(({ type }) => type === 'NoteState').length;
  const first = plan(emptyControllerMemory, now);
  assert.match(first.problems[0]?.reason ?? '', /StateKept/);
  assert.equal(first.enforce, undefined);
  assert.equal(noted(first.actions), 0);
  const last = plan(first.memory, now + 30_000);
  assert.notEqual(last.enforce, undefined);
  assert.equal(noted(last.actions), 1);
});

test('the first start with an unnoted state waits until no more NodeSets come, three minutes at most', () => {
  const evidence = { ...noEvidence, keptState: { claim, note: undefined } };
  const statefulSet = { ...currentStatefulSet, exists: false };
  const wait = (names: readonly string[], before: AwaitedNodeSets | undefined, at: number) =>
    awaitNodeSets(
      observedController({ statefulSet, nodeSets: names.map((name) => aNodeSet({}, { name })) }),
      evidence,
      before,
      at,
    );
  const first = wait([], undefined, now);
  assert.equal(first.left, 30_000);
  assert.match(first.problems[0]?.message ?? '', new RegExp(claim));
  const second = wait(['a'], first.awaited, now + 20_000);
  assert.equal(second.left, 30_000);
  assert.equal(wait(['a'], second.awaited, now + 30_000).left, 20_000);
  assert.deepEqual(wait(['a'], second.awaited, now + 50_000).problems, []);
  assert.equal(wait(['a'], second.awaited, now + 50_000).left, 0);
  assert.equal(wait(['a'], second.awaited, now - 3_600_000).left, 0, 'a clock that was set back');
  let last = first;
  for (let at = 0; at < 180_000; at += 10_000) last = wait([`set-${at}`], last.awaited, now + at);
  assert.equal(wait(['more'], last.awaited, now + 180_000).left, 0);
  assert.equal(
    awaitNodeSets(observedController(), evidence, undefined, now).left,
    0,
    'slurmctld has started',
  );
  assert.equal(awaitNodeSets(observedController({ statefulSet }), noEvidence, undefined, now).left, 0);
});
