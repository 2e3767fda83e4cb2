import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideTrial, type Trial } from './trial.ts';

const trial = (over: Partial<Trial> = {}): Trial => ({
  digest: 'new',
  uid: 'u',
  phase: 'Running',
  message: undefined,
  terminating: false,
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
    reason: 'it failed',
    input: { ...base, trial: trial({ phase: 'Failed', message: 'fatal: x' }) },
    kind: 'reject',
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
