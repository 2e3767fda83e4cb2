import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { SlurmClient, SlurmJob } from '@slurm-operator/slurm';
import { slurmJob } from '@slurm-operator/slurm/testing';
import fc from 'fast-check';
import { rpcSamples } from './expose-slurm.ts';
import { gpuIndexes, gpuSamples } from './gpu-figures.ts';
import { pendingReason, pendingReasons } from './pending-reasons.ts';
import { otherPartitions, PendingSurvey, pendingFigures } from './pending-survey.ts';
import { WaitTimes } from './wait-times.ts';

const labels = { namespace: 'hpc', cluster: 'slurm' };

for (const [given, expected] of [
  ['Resources', 'Resources'],
  ['None', 'Resources'],
  ['', 'Resources'],
  ['Priority', 'Priority'],
  ['Dependency', 'Dependency'],
  ['DependencyNeverSatisfied', 'Dependency'],
  ['BeginTime', 'BeginTime'],
  ['JobHeldAdmin', 'Held'],
  ['QOSMaxJobsPerUserLimit', 'Limit'],
  ['AssocGrpGRES', 'Limit'],
  ['PartitionTimeLimit', 'Limit'],
  ['Licenses', 'License'],
  ['Reservation', 'Reservation'],
  ['ReqNodeNotAvail', 'NodeDown'],
  ['PartitionDown', 'Partition'],
  ['InvalidQOS', 'Other'],
] as const)
  test(`a job that waits for ${given || 'nothing'} is counted as ${expected}`, () => {
    assert.equal(pendingReason({ stateReason: given, held: false }), expected);
  });

test('any reason is one of the documented words, and a held job is held', () => {
  fc.assert(
    fc.property(fc.string(), (stateReason) => {
      assert.ok(pendingReasons.includes(pendingReason({ stateReason, held: false })));
      assert.equal(pendingReason({ stateReason, held: true }), 'Held');
    }),
  );
});

for (const [given, expected] of [
  ['gpu:h100:2(IDX:0-1)', [0, 1]],
  ['gpu:8(IDX:0-3,6)', [0, 1, 2, 3, 6]],
  ['gpu:a100:1(IDX:7),shard:4(IDX:0-3)', [7]],
  ['gpu:a:1(IDX:1),gpu:b:1(IDX:2)', [1, 2]],
  ['shard:2(IDX:0)', []],
  ['gpu:2(CNT:2)', []],
  ['gpu:0(IDX:)', []],
  ['gpu:1(IDX:N/A)', []],
] as const)
  test(`${given} has the GPUs ${expected.join(', ') || 'that no index names'}`, () => {
    assert.deepEqual(gpuIndexes(given), expected);
  });

test('no text makes more than 64 indexes', () => {
  assert.equal(gpuIndexes('gpu:1(IDX:0-99999999999)').length, 64);
  fc.assert(
    fc.property(fc.string(), (text) => {
      const indexes = gpuIndexes(`gpu:9(IDX:${text})`);
      assert.ok(indexes.length <= 64 && indexes.every((index) => Number.isInteger(index) && index >= 0));
    }),
  );
});

const running = (id: number, over: Partial<SlurmJob> = {}) =>
  slurmJob(id, {
    state: ['RUNNING'],
    partition: 'gpu,any',
    account: 'ml',
    nodes: 'n[0-1]',
    gresDetail: ['gpu:1(IDX:3)', 'gpu:2(IDX:0-1)'],
    ...over,
  });

test('each GPU of a running job is one series, by node and index', () => {
  const { samples, omitted } = gpuSamples(labels, [running(7)]);
  const common = { ...labels, job_id: '7', user: 'alice', account: 'ml', partition: 'gpu' };
  assert.equal(omitted, 0);
  assert.deepEqual(samples, [
    { labels: { ...common, node: 'n0', gpu: '3' }, value: 1 },
    { labels: { ...common, node: 'n1', gpu: '0' }, value: 1 },
    { labels: { ...common, node: 'n1', gpu: '1' }, value: 1 },
  ]);
});

test('a job that is suspended, waits for its nodes, or whose nodes are not told shows no GPU', () => {
  for (const over of [
    { state: ['SUSPENDED'] },
    { state: ['RUNNING', 'CONFIGURING'] },
    { gresDetail: ['gpu:1(IDX:0)'] },
    { nodes: 'n[' },
  ])
    assert.deepEqual(gpuSamples(labels, [running(7, over)]), { samples: [], omitted: 0 });
});

test('above the limit whole jobs are left out, and counted', () => {
  const { samples, omitted } = gpuSamples(labels, [running(1), running(2), running(3)], 7);
  assert.deepEqual([samples.length, omitted], [6, 3]);
});

const second = 1000;
const jobs = (...list: SlurmJob[]) => {
  const byId = new Map(list.map((job) => [String(job.id), job]));
  return { running: byId, states: new Map([...byId].map(([id, { state }]) => [id, state])) };
};
const startOf = (id: number, startedAt: number, over: Partial<SlurmJob> = {}) =>
  running(id, { partition: 'gpu', submittedAt: 10 * second, startedAt, ...over });

test('tells each start once, from when the job could start, and nothing of jobs that ran before', () => {
  const waits = new WaitTimes();
  const old = startOf(1, 20 * second);
  assert.deepEqual(waits.follow(jobs(old)), []);
  const fresh = startOf(2, 70 * second, { eligibleAt: 40 * second });
  assert.deepEqual(waits.follow(jobs(old, fresh)), [{ partition: 'gpu', seconds: 30 }]);
  assert.deepEqual(waits.follow(jobs(old, fresh)), []);
  // Its details are read again: it is missing for one list.
  assert.deepEqual(waits.follow({ ...jobs(old, fresh), running: new Map() }), []);
  assert.deepEqual(waits.follow(jobs(old, fresh)), []);
  assert.deepEqual(
    waits.follow(jobs(old, startOf(2, 100 * second))),
    [{ partition: 'gpu', seconds: 90 }],
    'requeued',
  );
});

test('a job is told when its nodes have booted', () => {
  const waits = new WaitTimes();
  waits.follow(jobs());
  assert.deepEqual(waits.follow(jobs(startOf(1, 20 * second, { state: ['RUNNING', 'CONFIGURING'] }))), []);
  assert.deepEqual(waits.follow(jobs(startOf(1, 50 * second))), [{ partition: 'gpu', seconds: 40 }]);
});

test('after any history every start is told once', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(3), { maxLength: 4 }), { maxLength: 12 }), (history) => {
      const waits = new WaitTimes();
      waits.follow(jobs());
      const told = history.flatMap((ids) =>
        waits.follow({
          ...jobs(...[...new Set(ids)].map((id) => startOf(id, (20 + id) * second))),
          states: new Map([0, 1, 2, 3].map((id) => [String(id), ['RUNNING']])),
        }),
      );
      assert.equal(told.length, new Set(history.flat()).size);
    }),
  );
});

test('counts pending jobs in their first partition, and the longest wait for the cluster alone', () => {
  const row = (partition: string, reason: 'Resources' | 'Held', since: number) => ({
    partition,
    reason,
    since,
  });
  const { counts, oldest } = pendingFigures(
    [row('gpu', 'Resources', 50), row('gpu', 'Resources', 40), row('gpu', 'Held', 1), undefined],
    100,
  );
  assert.deepEqual(
    [...counts].map(([partition, reasons]) => [partition, Object.fromEntries(reasons)]),
    [['gpu', { Resources: 2, Held: 1 }]],
  );
  assert.deepEqual([...oldest], [['gpu', 40]]);
});

test('partitions after the 200th are one series', () => {
  const rows = Array.from({ length: 500 }, (_, at) => ({
    partition: `p${at}`,
    reason: 'Priority' as const,
    since: at,
  }));
  const { counts } = pendingFigures(rows, 0);
  assert.equal(counts.size, 201);
  assert.equal(counts.get(otherPartitions)?.get('Priority'), 300);
});

function surveyed() {
  const state = { now: 1_000_000, lists: 0, fails: false };
  const client = {
    jobs: {
      listProjected: async (project: (job: SlurmJob) => unknown) => {
        state.lists += 1;
        if (state.fails) throw new Error('slurmctld is gone');
        return { items: [project(slurmJob(1, { partition: 'gpu', stateReason: 'Priority' }))] };
      },
    },
  } as unknown as Pick<SlurmClient, 'jobs'>;
  return { state, survey: new PendingSurvey(client, () => state.now) };
}

test('jobs are listed while jobs wait and the metrics are scraped, at most once a minute', async () => {
  const { state, survey } = surveyed();
  assert.equal(survey.figures(0)?.counts.size, 0);
  assert.equal(state.lists, 0);
  for (let scrape = 0; scrape < 20; scrape += 1) {
    survey.figures(1);
    await turn();
    state.now += 15_000;
  }
  assert.equal(state.lists, 5);
  assert.equal(survey.figures(1)?.counts.get('gpu')?.get('Priority'), 1);
  await survey.close();
});

test('figures that are too old are not shown, and a list that fails is tried again', async () => {
  const { state, survey } = surveyed();
  survey.figures(1);
  await turn();
  state.fails = true;
  state.now += 31 * 60_000;
  assert.equal(survey.figures(1), undefined);
  await turn();
  state.fails = false;
  state.now += 61_000;
  survey.figures(1);
  await turn();
  assert.equal(survey.figures(1)?.counts.size, 1);
  await survey.close();
  state.now += 61_000;
  survey.figures(1);
  assert.equal(state.lists, 3, 'nothing is asked after the end');
});

test('types of messages after the hundredth are one series', () => {
  const rpcs = Array.from({ length: 130 }, (_, at) => ({
    type: `R${String(at).padStart(3, '0')}`,
    count: 2,
    totalTime: 1,
  }));
  const samples = rpcSamples(labels, rpcs, ({ count }) => count);
  assert.equal(samples.length, 101);
  assert.deepEqual(samples.at(-1), { labels: { ...labels, rpc: 'other' }, value: 60 });
});
