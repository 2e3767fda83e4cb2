import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aNodeSet } from '../../../testing/objects.ts';
import {
  decideTrial,
  describeRejection,
  describeUntried,
  skipToken,
  type Trial,
  type TrialInput,
} from './trial.ts';
import type { TrialResult } from './trial-report.ts';
import type { TrialGroup } from './trial-worker.ts';

const trial = (over: Partial<Trial> = {}): Trial => ({
  name: 'main-config-check',
  part: '',
  digest: 'new',
  uid: 'u',
  phase: 'Running',
  result: undefined,
  message: undefined,
  createdAt: 1_000,
  deletedAt: undefined,
  node: 'node-1',
  isLost: false,
  ...over,
});
const passed: TrialResult = { kind: 'passed' };
const refusedBy = (by: 'slurmctld' | 'slurmd'): TrialResult => ({ kind: 'refused', by, message: 'fatal: x' });
const undecided = (id: string): TrialResult => ({
  kind: 'undecided',
  workers: [{ id, message: 'slurmd of image x: no such device' }],
});
const group = (id: string, architecture?: string): TrialGroup => ({
  id,
  image: `slurmd:${id}`,
  nodeSet: aNodeSet(),
  architecture,
});
const main = { name: 'main', namespace: 'hpc' };
const decide = (over: Partial<TrialInput> = {}) =>
  decideTrial({ digest: 'new', inForce: 'old', trials: [], groups: [], now: 10_000, ...over });
const ofOne = (over: Partial<Trial>, input: Partial<TrialInput> = {}) =>
  decide({ trials: [trial(over)], ...input });

const cases: readonly { reason: string; decision: ReturnType<typeof decide>; kind: string }[] = [
  { reason: 'nothing was ever in force', decision: decide({ inForce: undefined }), kind: 'enforce' },
  { reason: 'it is in force already', decision: decide({ inForce: 'new' }), kind: 'enforce' },
  { reason: 'it was never tried', decision: decide(), kind: 'try' },
  { reason: 'its trial goes on', decision: ofOne({}), kind: 'try' },
  { reason: 'it passed', decision: ofOne({ phase: 'Succeeded', result: passed }), kind: 'enforce' },
  { reason: 'slurmctld refused it', decision: ofOne({ result: refusedBy('slurmctld') }), kind: 'reject' },
  { reason: 'a slurmd refused it', decision: ofOne({ result: refusedBy('slurmd') }), kind: 'reject' },
  { reason: 'another one passed', decision: ofOne({ digest: 'other', result: passed }), kind: 'try' },
  {
    reason: 'a person does without a trial, and none has begun',
    decision: decide({ skip: true }),
    kind: 'enforce',
  },
  {
    reason: 'a person does without a trial that cannot begin',
    decision: ofOne({ phase: 'Pending', message: 'no such image' }, { skip: true }),
    kind: 'enforce',
  },
  {
    reason: 'a person knows better than the trial of a slurmd',
    decision: ofOne({ result: refusedBy('slurmd') }, { skip: true }),
    kind: 'enforce',
  },
  {
    reason: 'a person cannot force what slurmctld itself refuses',
    decision: ofOne({ result: refusedBy('slurmctld') }, { skip: true }),
    kind: 'reject',
  },
];
for (const { reason, decision, kind } of cases)
  test(`${reason}: ${kind}`, () => assert.equal(decision.kind, kind));

const trying = (decision: ReturnType<typeof decide>) => {
  assert.equal(decision.kind, 'try');
  return decision.kind === 'try' ? decision : assert.fail();
};

test('a trial of another configuration is removed, and then the new one is tried', () => {
  const other = trial({ digest: 'other', phase: 'Failed' });
  assert.deepEqual(trying(decide({ trials: [other] })), { kind: 'try', start: [], remove: [other] });
  assert.deepEqual(trying(decide()).start, [{ id: '', scope: 'image', workers: [] }]);
});

test('a trial without a result is made again after 30 s, and until then its message is shown', () => {
  const evicted = trial({ phase: 'Failed', message: 'The node was low on resource: memory.' });
  const words = { message: 'The node was low on resource: memory.' };
  assert.deepEqual(decide({ trials: [evicted] }), {
    kind: 'try',
    start: [],
    remove: [],
    again: 31_000,
    ...words,
  });
  assert.deepEqual(trying(decide({ trials: [evicted], now: 31_000 })).remove, [evicted]);
});

test('a pod that is still terminating after 30 s is deleted by force, and its node is named', () => {
  const stuck = trial({ digest: 'other', deletedAt: 5_000, isLost: true });
  assert.deepEqual(decide({ trials: [stuck] }), { kind: 'try', start: [], remove: [], again: 35_000 });
  const { remove, message = '' } = trying(decide({ trials: [stuck], now: 35_000 }));
  assert.deepEqual(remove, [stuck]);
  assert.match(message, /pod main-config-check .* node node-1, which does not answer/);
});

test('a trial on a node that does not answer is made again elsewhere, and the node is named', () => {
  const lost = trial({ isLost: true });
  const { remove, message = '' } = trying(decide({ trials: [lost] }));
  assert.deepEqual(remove, [lost]);
  assert.match(message, /node-1, which does not answer/);
});

test('every architecture needs a result of its own', () => {
  const groups = [group('a', 'amd64'), group('b', 'arm64')];
  const amd = trial({ result: passed });
  assert.deepEqual(
    trying(decide({ trials: [amd], groups })).start.map(({ id }) => id),
    ['arm64'],
  );
  const arm = trial({ part: 'arm64', name: 'main-config-check-arm64' });
  assert.equal(decide({ trials: [amd, { ...arm, result: passed }], groups }).kind, 'enforce');
  assert.equal(decide({ trials: [amd, { ...arm, result: refusedBy('slurmd') }], groups }).kind, 'reject');
});

test('what the first pod cannot tell is tried with the resources of a worker before it is in force', () => {
  const groups = [group('a1')];
  const first = trial({ phase: 'Failed', result: undecided('a1') });
  const { start } = trying(decide({ trials: [first], groups }));
  assert.deepEqual(
    start.map(({ id, scope }) => [id, scope]),
    [['a1', 'node']],
  );
  const onNode = trial({ part: 'a1', name: 'main-config-check-a1' });
  const waiting = trial({ ...onNode, phase: 'Pending', message: '0/3 nodes: Insufficient nvidia.com/gpu' });
  assert.match(trying(decide({ trials: [first, waiting], groups })).message ?? '', /Insufficient nvidia/);
  assert.equal(decide({ trials: [first, { ...onNode, result: passed }], groups }).kind, 'enforce');
  assert.equal(
    decide({ trials: [first, { ...onNode, result: refusedBy('slurmd') }], groups }).kind,
    'reject',
  );
});

test('what cannot be told with the resources of a worker either waits for a person, and is tried again later', () => {
  const groups = [group('a1')];
  const trials = [
    trial({ phase: 'Failed', result: undecided('a1') }),
    trial({ part: 'a1', name: 'main-config-check-a1', phase: 'Failed', result: undecided('a1') }),
  ];
  const decision = trying(decide({ trials, groups }));
  assert.deepEqual([decision.start, decision.remove], [[], []]);
  assert.match(
    describeUntried(decision, main, 'new') ?? '',
    /no such device\. It fails with the configuration in force too.*skip-config-trial=new/,
  );
  assert.equal(trying(decide({ trials, groups, now: 601_000 })).remove.length, 1);
  assert.equal(decide({ trials, groups, skip: true }).kind, 'enforce');
  assert.equal(decide({ trials, groups: [] }).kind, 'enforce', 'such workers do not exist any more');
});

test('pods of earlier trials are removed when the configuration is in force', () => {
  const [first, onNode] = [trial({ result: passed }), trial({ part: 'a1', result: passed })];
  assert.deepEqual(decide({ inForce: 'new', trials: [first, onNode, trial({ deletedAt: 1 })] }), {
    kind: 'enforce',
    cleanUp: [first, onNode],
  });
});

test('what a trial waits for is shown with the command to do without it; one that runs is no problem', () => {
  const digest = 'a1b2c3d4e5f6a7b8';
  const pulling = decide({
    digest,
    trials: [trial({ digest, phase: 'Pending', message: 'Back-off pulling image "x"' })],
  });
  const words = describeUntried(pulling, main, digest) ?? '';
  assert.match(words, /Back-off pulling image "x"/);
  assert.match(words, new RegExp(`kubectl annotate controller main -n hpc .*=${skipToken(digest)}$`));
  assert.equal(describeUntried(decide({ digest, trials: [trial({ digest })] }), main, digest), undefined);
});

test('only the refusal of a slurmd comes with a command to force it', () => {
  const reject = (by: 'slurmctld' | 'slurmd') => ({ kind: 'reject', by, message: 'fatal: y' }) as const;
  assert.match(describeRejection(reject('slurmd'), main, 'abc'), /Workers would exit.*annotate/);
  assert.doesNotMatch(describeRejection(reject('slurmctld'), main, 'abc'), /annotate/);
});
