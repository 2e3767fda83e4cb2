import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as semantics from './node-state.ts';

const predicates = {
  busy: semantics.isBusy,
  idle: semantics.isIdle,
  drain: semantics.isDrain,
  draining: semantics.isDraining,
  drained: semantics.isDrained,
  down: semantics.isDown,
  notResponding: semantics.isNotResponding,
  powering: semantics.isPowering,
  maintenance: semantics.isMaintenance,
  invalid: semantics.isInvalidRegistration,
  schedulable: semantics.isSchedulable,
};
type Predicate = keyof typeof predicates;

const cases: readonly { state: string; is: readonly Predicate[]; reason: string }[] = [
  { state: 'IDLE', is: ['idle', 'schedulable'], reason: 'free' },
  {
    state: 'IDLE+DYNAMIC_NORM',
    is: ['idle', 'schedulable'],
    reason: 'a dynamic node is a node like any other',
  },
  { state: 'MIXED', is: ['busy', 'schedulable'], reason: 'partly used' },
  { state: 'ALLOCATED', is: ['busy', 'schedulable'], reason: 'fully used' },
  { state: 'IDLE+COMPLETING', is: ['busy', 'schedulable'], reason: 'an epilog still runs' },
  { state: 'IDLE+DRAIN', is: ['idle', 'drain', 'drained'], reason: 'DRAINED has no word of its own' },
  { state: 'MIXED+DRAIN', is: ['busy', 'drain', 'draining'], reason: 'DRAINING neither' },
  {
    state: 'IDLE+COMPLETING+DRAIN',
    is: ['busy', 'drain', 'draining'],
    reason: 'not drained before the epilog ends',
  },
  { state: 'DOWN+DRAIN', is: ['down', 'drain', 'drained'], reason: 'dead and drained' },
  { state: 'DOWN+NOT_RESPONDING', is: ['down', 'notResponding'], reason: 'its slurmd is gone' },
  { state: 'IDLE+NOT_RESPONDING', is: ['idle', 'notResponding'], reason: 'just after an undrain' },
  {
    state: 'IDLE+DRAIN+INVALID_REG',
    is: ['idle', 'drain', 'drained', 'invalid'],
    reason: 'promised more than it has',
  },
  {
    state: 'ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP',
    is: ['busy', 'notResponding', 'powering'],
    reason: 'booting for a job',
  },
  { state: 'DOWN+DRAIN+REBOOT_ISSUED', is: ['down', 'drain', 'drained', 'maintenance'], reason: 'rebooting' },
  { state: 'UNKNOWN+DRAIN', is: ['busy', 'drain', 'draining'], reason: 'unknown is never idle' },
  { state: 'DRAIN', is: ['busy', 'drain', 'draining'], reason: 'no base state at all is unknown' },
  {
    state: 'SOMETHING_NEW+DRAIN',
    is: ['busy', 'drain', 'draining'],
    reason: 'a base state of the future is unknown',
  },
  {
    state: 'IDLE+ALLOCATED+DRAIN',
    is: ['busy', 'drain', 'draining'],
    reason: 'two base states: the busy one counts',
  },
];

for (const { state, is, reason } of cases) {
  test(`${state}: ${reason}`, () => {
    const parsed = semantics.parseNodeState(state.split('+'));
    const held = (Object.keys(predicates) as Predicate[]).filter((name) => predicates[name](parsed));
    assert.deepEqual(new Set(held), new Set(is));
  });
}

const anyState = fc.subarray([
  ...semantics.baseStates,
  'DRAIN',
  'COMPLETING',
  'NOT_RESPONDING',
  'FAIL',
  'CLOUD',
  'X',
]);

test('property: never drained and busy, never idle and busy; the order of names does not matter', () => {
  fc.assert(
    fc.property(anyState, (names) => {
      const state = semantics.parseNodeState(names);
      assert.ok(!(semantics.isDrained(state) && semantics.isBusy(state)));
      assert.ok(!(semantics.isIdle(state) && semantics.isBusy(state)));
      assert.equal(semantics.isBusy(semantics.parseNodeState(names.toReversed())), semantics.isBusy(state));
      assert.ok(
        semantics.sameNodeState(state, semantics.parseNodeState(semantics.formatNodeState(state).split('+'))),
      );
    }),
  );
});

test('states are equal for any order of their flags', () => {
  const of = (text: string) => semantics.parseNodeState(text.split('+'));
  assert.ok(semantics.sameNodeState(of('IDLE+DRAIN+CLOUD'), of('IDLE+CLOUD+DRAIN')));
  assert.ok(!semantics.sameNodeState(of('IDLE+DRAIN'), of('IDLE')));
  assert.ok(!semantics.sameNodeState(of('IDLE+DRAIN'), of('IDLE+FAIL')));
  assert.ok(!semantics.sameNodeState(of('IDLE+DRAIN'), of('DOWN+DRAIN')));
});
