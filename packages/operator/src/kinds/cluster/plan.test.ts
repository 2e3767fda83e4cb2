import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeActions, Sensitive } from '../../framework/actions.ts';
import type { Failure } from '../../slurm-connection/failure.ts';
import type { Endpoint, ObservedCluster } from './observe.ts';
import { answerOf, type ClusterPlan, emptyMemory, nextLook, nextMemory, planCluster } from './plan.ts';
import type { Connected } from './status.ts';

const now = Date.UTC(2026, 0, 2);
const server = 'http://slurm-restapi:6820';
const endpoint = (key = 'a-signing-key-of-thirty-two-bytes-and-more'): Endpoint => ({
  target: {
    server,
    credential: { kind: 'key', secret: { name: 'slurm-jwt', key: 'jwt.key' } },
    ca: undefined,
    username: 'slurm',
  },
  credential: new Sensitive({ secret: Buffer.from(key), ca: undefined }),
  fingerprint: 'print',
});
const observed = (over: Partial<ObservedCluster> = {}): ObservedCluster => ({
  endpoint: endpoint(),
  openFingerprint: 'print',
  isListed: true,
  lastVersion: undefined,
  hasAccounting: false,
  unready: [],
  memory: emptyMemory,
  jitter: 0,
  ...over,
});
const actions = (over: Partial<ObservedCluster>) => describeActions(planCluster(observed(over), now).actions);
const missing: Failure = { class: 'configuration', reason: 'SecretNotFound', message: 'there is no Secret' };
const refused: Failure = { class: 'transient', reason: 'ConnectionRefused', message: 'nothing listens' };
const connected: Connected = {
  server,
  slurmVersion: '26.05.5',
  apiVersion: 'v0.0.45',
  view: { kind: 'unknown', since: 0, why: 'not read yet' },
  jobs: undefined,
  accounting: undefined,
};
const asked = (answer: Connected | Failure, at = now + 5000) => [{ at, answer }];

const cases: { reason: string; over: Partial<ObservedCluster>; expected: string[] }[] = [
  { reason: 'an open connection is kept', over: {}, expected: [`ask slurm at ${server}`] },
  {
    reason: 'without a connection one is opened',
    over: { openFingerprint: undefined },
    expected: [`open connection to ${server}`, `ask slurm at ${server}`],
  },
  {
    reason: 'another server or credential replaces it',
    over: { openFingerprint: 'other' },
    expected: [`open connection to ${server}`, `ask slurm at ${server}`],
  },
  {
    reason: 'the accounting is asked where there is one',
    over: { hasAccounting: true },
    expected: [`ask slurm at ${server}, and its accounting`],
  },
  {
    reason: 'without a credential the connection is closed',
    over: { endpoint: missing },
    expected: ['close connection to Slurm'],
  },
  {
    reason: 'and nothing is closed twice',
    over: { endpoint: missing, openFingerprint: undefined },
    expected: [],
  },
  {
    reason: 'a key that signs no token opens no connection',
    over: { endpoint: endpoint(''), openFingerprint: undefined },
    expected: [],
  },
];
for (const { reason, over, expected } of cases) test(reason, () => assert.deepEqual(actions(over), expected));

test('a failure of the configuration is reported, and not retried', () => {
  const plan = planCluster(observed({ endpoint: missing }), now);
  assert.equal(answerOf({ plan, notes: [], problems: [] }), missing);
  assert.equal(nextLook(plan, [], emptyMemory), undefined);
  const invalid = planCluster(observed({ endpoint: endpoint('') }), now);
  assert.equal(invalid.failure?.reason, 'InvalidKey');
  const unsupported: Failure = { ...missing, reason: 'VersionUnsupported' };
  assert.equal(nextLook(planCluster(observed(), now), asked(unsupported), emptyMemory), undefined);
});

test('failures in a row wait longer each time, counted from the answer; an answer ends that', () => {
  let memory = emptyMemory;
  let time = now;
  const pauses: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const plan = planCluster(observed({ memory }), time);
    const notes = asked(refused, time + 12_000);
    const again = nextLook(plan, notes, memory) ?? 0;
    pauses.push(again - time - 12_000);
    memory = nextMemory(plan, notes);
    time = again;
  }
  assert.deepEqual(pauses, [1000, 2000, 4000, 8000]);
  const plan = planCluster(observed({ memory }), time);
  assert.deepEqual(nextMemory(plan, asked(connected)), { ...emptyMemory, isConnected: true });
});

test('a try before its time does not move the next one', () => {
  const memory = nextMemory(planCluster(observed(), now), asked(refused, now));
  const early = planCluster(observed({ memory }), now + 10);
  assert.equal(nextLook(early, asked(refused, now + 20), memory), now + 1000);
  assert.deepEqual(nextMemory(early, asked(refused, now + 20)), memory);
});

test('a try before its time opens no other connection: what notices that would start the next reconcile at once', () => {
  const memory = nextMemory(planCluster(observed(), now), asked(refused, now));
  const readsKeyAgain = (time: number) =>
    planCluster(observed({ memory }), time).actions.map((one) => one.type === 'AskSlurm' && one.readKeyAgain);
  assert.deepEqual([readsKeyAgain(now + 10), readsKeyAgain(now + 1000)], [[false], [true]]);
});

test('the jitter and the limits of the pauses are inputs', () => {
  const pause = (jitter: number, plan: ClusterPlan = planCluster(observed({ jitter }), now)) =>
    'delay' in plan.retry && plan.retry.delay;
  assert.deepEqual([pause(0), pause(1)], [1000, 500]);
  const backoff = { initial: 70, limit: 70 };
  assert.equal(pause(0, planCluster(observed(), now, { backoff })), 70);
});

test('Slurm is asked every 10 s, with accounting every 5 s, and sooner after the first silence of slurmdbd', () => {
  const next = (answer: Connected, over: Partial<ObservedCluster> = {}) => {
    const state = observed(over);
    return (nextLook(planCluster(state, now), asked(answer, now), state.memory) ?? 0) - now;
  };
  assert.equal(next(connected), 10_000);
  assert.equal(next({ ...connected, accounting: { kind: 'answers' } }, { hasAccounting: true }), 5_000);
  const silent: Connected = { ...connected, accounting: { kind: 'silent', words: 'timeout' } };
  assert.equal(next(silent, { hasAccounting: true }), 500);
  const memory = nextMemory(planCluster(observed(), now), asked(silent));
  assert.equal(memory.accountingWasSilent, true);
  assert.equal(next(silent, { hasAccounting: true, memory }), 5_000);
});

test('while Slurm is busy it is asked, and its status written, every 5 s only; an outage or another key is looked at at once', () => {
  const view = { kind: 'known', nodes: [] } as unknown as Connected['view'];
  const well: Connected = { ...connected, view };
  const memory = nextMemory(planCluster(observed(), now), asked(well, now));
  const at = (ms: number, over: Partial<ObservedCluster> = {}) =>
    planCluster(observed({ memory, ...over }), now + ms);
  const soon = at(1_000);
  assert.deepEqual(soon.actions, []);
  assert.equal(answerOf({ plan: soon, notes: [], problems: [] }), well);
  assert.deepEqual(nextMemory(soon, []), memory);
  assert.equal(nextLook(soon, [], memory), now + 5_000);
  for (const [reason, plan] of [
    ['its time has come', at(5_000)],
    ['the clock was set back', at(-1_000)],
    ['the nodes are unknown', at(1_000, { isListed: false })],
    ['the connection is gone', at(1_000, { openFingerprint: undefined })],
    ['it has got accounting', at(1_000, { hasAccounting: true })],
  ] as const)
    assert.ok(plan.actions.length > 0, reason);
  assert.equal(nextMemory(planCluster(observed(), now), asked(connected, now)).reported, undefined);
});

test('an action that failed is reported as the reason that Slurm was not asked', () => {
  const plan = planCluster(observed(), now);
  const problems = [{ reason: 'SlurmError' as const, message: 'to Slurm: out of sockets' }];
  assert.deepEqual(answerOf({ plan, notes: [], problems }), { class: 'transient', ...problems[0] });
});

test('a plan is printed without the credential', () => {
  const text = JSON.stringify(planCluster(observed({ openFingerprint: undefined }), now));
  assert.equal(text.includes('a-signing-key'), false);
});
