import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideTrial, type Trial } from './trial.ts';

const trial = (over: Partial<Trial> = {}): Trial => ({
  digest: 'new',
  uid: 'u',
  phase: 'Running',
  refused: false,
  message: undefined,
  terminating: false,
  createdAt: 1_000,
  ...over,
});
const base = { digest: 'new', inForce: 'old', trial: undefined };

const cases = [
  { reason: 'nothing was ever in force', input: { ...base, inForce: undefined }, kind: 'enforce' },
  { reason: 'it is in force already', input: { ...base, inForce: 'new' }, kind: 'enforce' },
  { reason: 'it was never tried', input: base, kind: 'start' },
  { reason: 'its trial goes on', input: { ...base, trial: trial() }, kind: 'wait' },
  { reason: 'it passed', input: { ...base, trial: trial({ phase: 'Succeeded' }) }, kind: 'enforce' },
  {
    reason: 'slurmctld refused it',
    input: { ...base, trial: trial({ phase: 'Failed', refused: true, message: 'fatal: x' }) },
    kind: 'reject',
  },
  {
    reason: 'its pod was evicted, or came too late',
    input: { ...base, trial: trial({ phase: 'Failed', message: 'longer than the specified deadline' }) },
    kind: 'replace',
  },
  {
    reason: 'another one is being tried',
    input: { ...base, trial: trial({ digest: 'other' }) },
    kind: 'replace',
  },
  {
    reason: 'another one failed before',
    input: { ...base, trial: trial({ digest: 'other', phase: 'Failed' }) },
    kind: 'replace',
  },
  {
    reason: 'the last trial is on its way out',
    input: { ...base, trial: trial({ digest: 'other', terminating: true }) },
    kind: 'wait',
  },
  {
    reason: 'the user went back to what is in force',
    input: { ...base, inForce: 'new', trial: trial({ digest: 'bad', phase: 'Failed' }) },
    kind: 'enforce',
  },
];

for (const { reason, input, kind } of cases)
  test(`${reason}: ${kind}`, () => assert.equal(decideTrial(input).kind, kind));

test('a trial without a verdict is made again, but not at once, and meanwhile its words are told', () => {
  const evicted = trial({ phase: 'Failed', message: 'The node was low on resource: memory.' });
  const decision = decideTrial({ ...base, trial: evicted });
  assert.deepEqual(decision, {
    kind: 'replace',
    trial: evicted,
    notBefore: 31_000,
    message: 'The node was low on resource: memory.',
  });
  const stuck = decideTrial({
    ...base,
    trial: trial({ phase: 'Pending', message: '0/3 nodes are available' }),
  });
  assert.deepEqual(stuck, { kind: 'wait', message: '0/3 nodes are available' });
});
