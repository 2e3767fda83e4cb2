import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import {
  autoscaled,
  now,
  observed,
  slurmNode,
  unplacedWorker,
  worker,
} from '../../../../testing/observed.ts';
import { NodeSetMetrics } from '../metrics.ts';
import type { Autoscale } from '../model/autoscale.ts';
import type { SlurmNode, Worker } from '../model/observed.ts';
import { planWorkers } from '../plan/plan-workers.ts';
import { slotStates } from './slot-states.ts';
import { gaveUpReason } from './wake-history.ts';
import { WakeTimes } from './wake-times.ts';

const autoscale = autoscaled({ max: 1 });
const node = (base: SlurmNode['base'], flags: readonly string[], over: Partial<SlurmNode> = {}) =>
  slurmNode(0, { base, flags: new Set(['CLOUD', ...flags]), instanceId: undefined, ...over });
const asleep = node('IDLE', ['POWERED_DOWN']);
const waking = node('MIXED', ['POWERING_UP']);
const awake = node('MIXED', []);
const pod = (over: Partial<Worker> = {}) => unplacedWorker(0, over);
const slots = (given: SlurmNode, workers: Worker[] = []) =>
  slotStates(observed(workers, [given], { autoscale }), autoscale);

test('times each stage of a wake-up by what the operator saw', () => {
  const times = new WakeTimes();
  times.follow(slots(asleep), 0);
  assert.deepEqual(times.follow(slots(waking), 1_000), []);
  times.follow(slots(waking, [pod()]), 1_500);
  times.follow(slots(waking, [pod({ nodeName: 'm' })]), 3_500);
  times.follow(slots(waking, [pod({ nodeName: 'm', everStarted: true })]), 9_500);
  assert.deepEqual(times.follow(slots(awake, [worker(0)]), 11_000), [
    {
      slurmName: 'w-0',
      result: 'started',
      seconds: { pod_created: 0.5, pod_scheduled: 2, slurmd_started: 6, registered: 1.5, total: 10 },
    },
  ]);
  assert.deepEqual(times.follow(slots(awake, [worker(0)]), 12_000), [], 'each is counted once');
});

test('a wake-up that Slurm or the operator gave up has failed, and one whose job was cancelled is withdrawn', () => {
  const ended = (last: SlurmNode, workers: Worker[] = []) => {
    const times = new WakeTimes();
    times.follow(slots(asleep), 0);
    times.follow(slots(waking), 1_000);
    return times.follow(slots(last, workers), 2_000).map(({ result, seconds }) => [result, seconds]);
  };
  const gaveUp = { reason: `${gaveUpReason}later: no machine` };
  assert.deepEqual(ended(node('DOWN', ['POWERING_UP'], gaveUp)), [['failed', {}]]);
  assert.deepEqual(ended(node('DOWN', ['POWERED_DOWN'], { reason: 'ResumeTimeout reached' })), [
    ['failed', {}],
  ]);
  assert.deepEqual(ended(node('IDLE', ['POWERING_DOWN'])), [['withdrawn', {}]]);
});

test('a wake-up that was under way when the operator started is counted and not timed', () => {
  const times = new WakeTimes();
  times.follow(slots(waking, [pod()]), 0);
  assert.deepEqual(times.follow(slots(awake, [worker(0)]), 5_000), [
    { slurmName: 'w-0', result: 'started', seconds: {} },
  ]);
});

test('metrics count wake-ups by result and nodes by state, and end with autoscale', async () => {
  const registry = new Registry();
  const metrics = new NodeSetMetrics(registry);
  const show = (
    given: SlurmNode,
    workers: Worker[],
    at: number,
    settings: Autoscale | undefined = autoscale,
  ) => {
    const facts = observed(workers, [given], settings === undefined ? {} : { autoscale: settings });
    metrics.show({ facts }, planWorkers(facts, at), at);
  };
  show(asleep, [], now);
  show(waking, [], now + 1_000);
  show(awake, [worker(0)], now + 4_000);
  const text = await registry.metrics();
  const values = new Map(
    text.split('\n').map((line) => [line.replace(/^slurm_operator_nodeset_/, ''), line]),
  );
  for (const wanted of [
    'autoscale_nodes{namespace="slurm",nodeset="w",state="awake"} 1',
    'autoscale_wakeups_total{namespace="slurm",nodeset="w",result="started"} 1',
    'autoscale_wakeup_seconds_sum{namespace="slurm",nodeset="w",stage="total"} 3',
    'autoscale_protected{namespace="slurm",nodeset="w"} 0',
  ])
    assert.ok(values.has(wanted), `${wanted} in ${text}`);
  const off = observed([worker(0)], [awake]);
  metrics.show({ facts: off }, planWorkers(off, now), now);
  assert.doesNotMatch(await registry.metrics(), /autoscale_nodes\{/);
});
