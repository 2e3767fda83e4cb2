import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soakFaults } from '@slurm-operator/operator/testing';
import { account } from './account.ts';
import { allJobs } from './all-jobs.ts';
import { parseJobRecords } from './job-record.ts';
import { draw, type FirstOperations, operationKinds } from './operations.ts';
import { PeoplesOrders } from './peoples-orders.ts';
import type { TrackedJob } from './workload.ts';

const line = (id: number, state: string, node = 'a-0') =>
  `JobId=${id} UserId=slurm(64030) GroupId=slurm(64030) Name=soak JobState=${state} Partition=a TimeLimit=20 StartTime=2026-01-01T00:00:10 EndTime=2026-01-01T00:00:20 NodeList=${node} NodeCnt=1`;
const job = (over: Partial<TrackedJob>): TrackedJob => ({
  id: 1,
  kind: 'batch',
  single: true,
  state: '',
  partition: 'a',
  acceptedAt: Date.parse('2026-01-01T00:00:05Z'),
  seconds: 10,
  runs: [],
  restarts: 0,
  end: 'COMPLETED',
  ...over,
});
const lost = (jobs: TrackedJob[], orders = new PeoplesOrders()) =>
  account(
    jobs,
    [],
    { kills: [], restarts: [], starts: new Map(), ends: new Map(), putBack: new Map(), refused: new Map() },
    () => {},
    orders,
  ).jobs_lost;

test('uses Slurm’s accounting for jobs whose end was not observed, and for jobs that were not tracked', () => {
  const records = parseJobRecords(
    [line(1, 'NODE_FAIL'), line(2, 'NODE_FAIL'), line(3, 'COMPLETED')].join('\n'),
  );
  const all = allJobs([job({ end: undefined })], records);
  assert.deepEqual(
    all.map(({ id, end }) => [id, end]),
    [
      [1, 'NODE_FAIL'],
      [2, 'NODE_FAIL'],
      [3, 'COMPLETED'],
    ],
  );
  assert.equal(lost(all), 2);
});

test('the last line about a job is its end: one that was requeued and completed is not lost', () => {
  const records = parseJobRecords([line(1, 'NODE_FAIL'), line(1, 'COMPLETED')].join('\n'));
  assert.deepEqual(
    allJobs([job({ end: 'GONE' })], records).map(({ end }) => end),
    ['COMPLETED'],
  );
});

test('a line of a job that waits again is not its end', () => {
  const records = parseJobRecords([line(1, 'PENDING'), line(2, 'PENDING')].join('\n'));
  const all = allJobs([job({ end: undefined })], records);
  assert.deepEqual(
    all.map(({ id, end }) => [id, end]),
    [[1, undefined]],
  );
});

test('a job that a person cancelled or whose time was over is not lost; one that ends so for another reason is', () => {
  const orders = new PeoplesOrders();
  orders.cancel(1);
  assert.equal(lost([job({ end: 'CANCELLED' })], orders), 0);
  assert.equal(lost([job({ id: 2, end: 'CANCELLED' })], orders), 1);
  assert.equal(lost([job({ end: 'TIMEOUT', kind: 'limit' })]), 0);
  assert.equal(lost([job({ end: 'TIMEOUT' })]), 1);
});

test('jobs on the workers of a NodeSet that people deleted at once are theirs, until it is gone', () => {
  const orders = new PeoplesOrders();
  const at = Date.parse('2026-01-01T00:00:20Z');
  const hurt = job({ end: 'NODE_FAIL', runs: [{ node: 'a-0', from: at - 10_000, until: at }] });
  orders.remove('b', 'uid-b', 'Delete', at - 5_000);
  assert.equal(lost([hurt], orders), 1);
  orders.remove('a', 'uid-a', 'CancelPending', at - 5_000);
  assert.equal(lost([hurt], orders), 1, 'that policy ends nothing that runs');
  orders.remove('a', 'uid-a', 'Delete', at - 5_000);
  assert.equal(lost([hurt], orders), 0);
  const foreign = job({ ...hurt, runs: [{ node: 'a-40', from: at - 10_000, until: at }] });
  assert.equal(lost([foreign], orders), 1, 'a worker of others is not one of the NodeSet');
  const later = new PeoplesOrders();
  later.remove('a', 'uid-a', 'Delete', at - 400_000);
  later.present(new Set(['uid-b']), at - 300_000);
  assert.equal(lost([hurt], later), 1);
});

test('a run on the next NodeSet of a name is not covered by the order that deleted the one before', () => {
  const orders = new PeoplesOrders();
  const at = Date.parse('2026-01-01T00:00:20Z');
  orders.remove('a', 'uid-1', 'Delete', at - 60_000);
  orders.present(new Set(['uid-2']), at - 50_000);
  const run = (from: number) =>
    job({ end: 'NODE_FAIL', partition: 'all', runs: [{ node: 'a-0', from, until: at }] });
  assert.equal(lost([run(at - 20_000)], orders), 1);
  assert.equal(
    lost([run(at - 70_000)], orders),
    0,
    'it ran when the order was given, and Slurm noticed late',
  );
});

test('pending jobs of the partition of a NodeSet end by the order to delete it with them, and no others', () => {
  const at = Date.parse('2026-01-01T00:00:20Z');
  const waiting = job({ end: 'NODE_FAIL', partition: 'a', runs: [], endedAt: at });
  for (const policy of ['Delete', 'CancelPending'] as const) {
    const orders = new PeoplesOrders();
    assert.equal(lost([waiting], orders), 1);
    orders.remove('a', 'uid-a', policy, at - 5_000);
    assert.equal(lost([waiting], orders), 0);
    assert.equal(lost([{ ...waiting, partition: 'a-x' }], orders), 0, 'its name after a change of hostname');
    assert.equal(lost([{ ...waiting, partition: 'all' }], orders), 1);
    assert.equal(lost([{ ...waiting, endedAt: at - 10_000 }], orders), 1, 'before the order');
    orders.present(new Set(), at - 1_000);
    const next = { ...waiting, acceptedAt: at + 10_000, endedAt: at + 20_000 };
    assert.equal(lost([next], orders), 1, 'accepted in the partition of the next NodeSet');
  }
});

test('a job that runs in the partition of a NodeSet that is deleted with its pending jobs must complete', () => {
  const at = Date.parse('2026-01-01T00:00:20Z');
  const run = { node: 'a-0', from: at - 10_000, until: at };
  const orders = new PeoplesOrders();
  orders.remove('a', 'uid-a', 'CancelPending', at - 5_000);
  assert.equal(lost([job({ end: 'NODE_FAIL', runs: [run], endedAt: at })], orders), 1);
  const requeued = job({ end: 'CANCELLED', runs: [{ ...run, cutBy: at - 6_000 }], endedAt: at });
  assert.equal(lost([requeued], orders), 0, 'it waited again when the order was given');
});

test('an operation depends on its seed and its number alone, and every kind can be had once', () => {
  const kinds = (seed: number, first: FirstOperations) =>
    Array.from({ length: operationKinds.length }, (_, n) => draw(seed, n + 1, first).operation.kind);
  assert.deepEqual(kinds(1, []), kinds(1, []));
  assert.notDeepEqual(kinds(1, []), kinds(2, []));
  assert.deepEqual(kinds(1, 'each kind').toSorted(), operationKinds.toSorted());
  assert.deepEqual(kinds(1, ['scale', 'roll out']).slice(0, 2), ['scale', 'roll out']);
  assert.equal(draw(5, 7).random.next(), draw(5, 7).random.next());
});

test('every other operation is of a kind that a planted fault needs, and the soak has all of these kinds', () => {
  for (const { name, aim = [] } of soakFaults)
    for (const kind of aim) assert.ok(operationKinds.includes(kind), `${name}: ${kind}`);
  const odd = [1, 3, 5, 7].map((n) => draw(1, n, [], ['scale']).operation.kind);
  assert.deepEqual(odd, ['scale', 'scale', 'scale', 'scale']);
  assert.equal(draw(1, 2, [], ['scale']).operation.kind, draw(1, 2).operation.kind);
});
