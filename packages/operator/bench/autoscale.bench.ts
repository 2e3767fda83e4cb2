/**
 * `make bench BENCH=autoscale`: how fast an autoscaled NodeSet follows Slurm. Real slurmctld and slurmd (SLURM=24.11 or 26.05), the
 * embedded API server, and pods that start at once (the image is there); 500 and 5,000 nodes with a simulated Slurm and the operator in a
 * process of its own. ROUNDS=10 and HELD_SECONDS=60 shorten or lengthen it; PARTS=follow,failure,gang,rest chooses. Needs root.
 */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@slurm-operator/kube/testing';
import { Figures } from '../../../tools/bench/figures.ts';
import { NodeSetStage } from '../testing/nodeset-stage.ts';
import { PoweredSlurm } from '../testing/powered-slurm.ts';
import { rest, wakeGang } from './autoscale-hollow.ts';

const rounds = Number(process.env['ROUNDS'] ?? 10);
const heldSeconds = Number(process.env['HELD_SECONDS'] ?? 60);
const parts = new Set((process.env['PARTS'] ?? 'follow,failure,gang,rest').split(','));
const release = process.env['SLURM'] === '24.11' ? '24.11' : '26.05';
const idleAfter = 2_000;
const giveUpAfter = 10_000;
const spec = { slurmd: { resources: { limits: { cpu: '4', memory: '4000Mi' } } }, oversubscribeNode: true };

const figures = new Figures();
const note = (key: string, value: number): void =>
  figures.note(`${key}, load ${(loadavg()[0] ?? 0).toFixed(1)}`, key, value);

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

async function follow(): Promise<void> {
  await using slurm = await PoweredSlurm.start(release);
  await using stage = await NodeSetStage.open<PoweredSlurm>(1, {
    slurm: (changed) => slurm.onChange(changed),
    endsWorkers: true,
  });
  await stage.startOperator();
  await stage.createNodeSet('gpu', { ...spec, autoscale: { max: 2, idleAfter: '2s', startWithin: '1m' } });
  const client = slurm.mini.client();
  const flags = async () =>
    (await slurm.truth()).find(({ name }) => name === 'gpu-0')?.state.flags ?? new Set<string>();
  const pods = async () => (await stage.pods()).length;
  const when = async (what: string, holds: () => Promise<boolean>) => {
    await until(what, holds, { everyMs: 20, seconds: 300 });
    return Date.now();
  };
  await createRecords(slurm, stage);
  await when('the node sleeps', async () => (await flags()).has('POWERED_DOWN'));
  const submit = (more: object = {}) =>
    client.jobs.submit({ script: '#!/bin/sh\nexit 0\n', requiredNodes: ['gpu-0'], timeLimit: 5, ...more });

  const held = await submit({ hold: true });
  const begin = { set: true, number: Math.floor(Date.now() / 1000) + 3600 };
  const waiting = [
    held,
    await submit({ more: { begin_time: begin } }),
    await submit({ dependency: `afterok:${held.id}` }),
  ];
  const endsAt = Date.now() + heldSeconds * 1000;
  let needless = 0;
  while (Date.now() < endsAt) {
    if ((await pods()) > 0) needless += 1;
    await delay(500);
  }
  for (const { id } of waiting) await client.jobs.cancel(id);
  note('needless_wakeups', needless);

  const stages = { flag: [], pod: [], accepted: [], start: [], cold: [], gone: [], reusable: [] } as Record<
    'flag' | 'pod' | 'accepted' | 'start' | 'cold' | 'gone' | 'reusable',
    number[]
  >;
  let lost = 0;
  for (let round = 0; round < rounds; round += 1) {
    const began = Date.now();
    const { id } = await submit();
    // What is over before it was seen ended no later than the next stage.
    const first: Partial<Record<'flag' | 'pod' | 'accepted' | 'start' | 'end', number>> = {};
    await when('the end', async () => {
      const [shown, count, job] = await Promise.all([flags(), pods(), client.jobs.get(id)]);
      const state = job?.state ?? [];
      const isOver = state.includes('COMPLETED');
      if (shown.has('POWERING_UP')) first.flag ??= Date.now();
      else if (first.flag !== undefined) first.accepted ??= Date.now();
      if (count > 0) first.pod ??= Date.now();
      if (isOver || (state.includes('RUNNING') && !state.includes('CONFIGURING'))) first.start ??= Date.now();
      if (isOver) first.end ??= Date.now();
      return isOver;
    });
    const ended = first.end ?? Date.now();
    const started = first.start ?? ended;
    const accepted = Math.min(first.accepted ?? started, started);
    const created = Math.min(first.pod ?? accepted, accepted);
    const flagged = Math.min(first.flag ?? created, created);
    const gone = await when('no pod', async () => (await pods()) === 0);
    const reusable = await when('sleep', async () => (await flags()).has('POWERED_DOWN'));
    if (!(await client.jobs.get(id))?.state.includes('COMPLETED')) lost += 1;
    stages.flag.push(flagged - began);
    stages.pod.push(created - flagged);
    stages.accepted.push(accepted - created);
    stages.start.push(started - accepted);
    stages.cold.push(started - began);
    stages.gone.push(gone - ended - idleAfter);
    stages.reusable.push(reusable - ended - idleAfter);
  }
  note('stage_submit_to_power_up_p50_seconds', quantile(stages.flag, 0.5) / 1000);
  note('power_up_to_pod_p99_ms', quantile(stages.pod, 0.99));
  note('stage_pod_to_registered_p50_seconds', quantile(stages.accepted, 0.5) / 1000);
  note('stage_registered_to_running_p50_seconds', quantile(stages.start, 0.5) / 1000);
  note('cold_start_p50_seconds', quantile(stages.cold, 0.5) / 1000);
  note('cold_start_p99_seconds', quantile(stages.cold, 0.99) / 1000);
  note('idle_to_gone_p99_seconds', quantile(stages.gone, 0.99) / 1000);
  note('reusable_p99_seconds', quantile(stages.reusable, 0.99) / 1000);
  note('jobs_lost', lost);
}

/** Before 25.11 the side container of slurmctld creates the nodes that the status lists. */
async function createRecords(slurm: PoweredSlurm, stage: NodeSetStage<PoweredSlurm>): Promise<void> {
  if (release !== '24.11') return;
  let line: string | undefined;
  await until('the list of nodes', async () => {
    line = (await stage.nodeSet('gpu'))?.status?.autoscale?.recordsToCreate;
    return line !== undefined;
  });
  await slurm.createRecords(line ?? '');
}

/** From the submit of a job for which there is no machine until it is pending again with the reason, less `giveUpAfter`. */
async function fail(): Promise<void> {
  await using slurm = await PoweredSlurm.start(release);
  await using stage = await NodeSetStage.open<PoweredSlurm>(1, {
    slurm: (changed) => slurm.onChange(changed),
    endsWorkers: true,
    schedules: () => false,
  });
  await stage.startOperator();
  const capacity = { giveUpAfter: `${giveUpAfter / 1000}s`, retryAfter: '10m' };
  await stage.createNodeSet('gpu', { ...spec, autoscale: { max: 8, startWithin: '5m', capacity } });
  await createRecords(slurm, stage);
  const client = slurm.mini.client();
  const asleep = async () =>
    (await slurm.truth()).filter(({ state }) => state.flags.has('POWERED_DOWN')).length;
  await until('the nodes sleep', async () => (await asleep()) === 8, { seconds: 120 });
  const began = Date.now();
  const { id } = await client.jobs.submit({
    script: '#!/bin/sh\nexit 0\n',
    nodes: 8,
    tasks: 8,
    timeLimit: 5,
  });
  const explained = async () => {
    const job = await client.jobs.get(id);
    return job?.state.includes('PENDING') === true && job.adminComment !== '';
  };
  await until('the job is requeued with the reason', explained, { everyMs: 50, seconds: 300 });
  note('capacity_failure_seconds', (Date.now() - began - giveUpAfter) / 1000);
}

if (parts.has('follow')) await follow();
if (parts.has('failure')) await fail();
if (parts.has('gang')) {
  const gang = await wakeGang(500);
  note('gang_500_raw_seconds', gang.rawSeconds);
  note('gang_500_first_pod_seconds', gang.firstPodSeconds);
  note('gang_500_operator_cpu_seconds', gang.cpuSeconds);
  note('gang_500_operator_cpu_wait_seconds', gang.cpuWaitSeconds);
  note('gang_500_seconds', gang.seconds);
}
if (parts.has('rest')) {
  const { beyondPoll, perSecond, cpuShare } = await rest(5_000, 30);
  note('rest_calls_beyond_poll_5000_sleeping', beyondPoll);
  note('rest_calls_per_second_5000_sleeping', perSecond);
  note('cpu_share_5000_sleeping', cpuShare);
}
figures.printJson('autoscale', { release, rounds });
process.exit(0);
