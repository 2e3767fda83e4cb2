import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideTrial, describeRejection, describeUntried, skipToken, type Trial } from './trial.ts';

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
    reason: 'a person does without a trial, and none has begun',
    input: { ...base, skip: true },
    kind: 'enforce',
  },
  {
    reason: 'a person does without a trial that cannot begin',
    input: { ...base, skip: true, trial: trial({ phase: 'Pending', message: 'no such image' }) },
    kind: 'enforce',
  },
  {
    reason: 'a person knows better than the trial of a slurmd',
    input: {
      ...base,
      skip: true,
      trial: trial({ phase: 'Failed', refused: true, message: 'slurmd of image x: it ended: y' }),
    },
    kind: 'enforce',
  },
  {
    reason: 'a person cannot force what slurmctld itself refuses',
    input: { ...base, skip: true, trial: trial({ phase: 'Failed', refused: true, message: 'fatal: x' }) },
    kind: 'reject',
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

const main = { name: 'main', namespace: 'hpc' };

test('a trial that cannot tell about a slurmd lets the configuration pass and says so', () => {
  const message = 'slurmd of image x: it ended: no such device';
  assert.deepEqual(decideTrial({ ...base, trial: trial({ phase: 'Succeeded', message }) }), {
    kind: 'enforce',
    cleanUp: undefined,
    note: message,
  });
});

test('what a trial waits for is told, with the command to do without it; one that goes on is no complaint', () => {
  const digest = 'a1b2c3d4e5f6a7b8';
  const pulling = decideTrial({
    digest,
    inForce: 'old',
    trial: trial({ digest, phase: 'Pending', message: 'Back-off pulling image "x"' }),
  });
  const words = describeUntried(pulling, main, digest) ?? '';
  assert.match(words, /Back-off pulling image "x"/);
  assert.match(words, new RegExp(`kubectl annotate controller main -n hpc .*=${skipToken(digest)}$`));
  const running = decideTrial({ digest, inForce: 'old', trial: trial({ digest }) });
  assert.equal(describeUntried(running, main, digest), undefined);
});

test('only the refusal of a slurmd comes with a command to force it', () => {
  assert.match(
    describeRejection('slurmd of image x: it ended: fatal', main, 'abc'),
    /Workers would exit.*annotate/,
  );
  assert.doesNotMatch(describeRejection('fatal: y', main, 'abc'), /annotate/);
});
