/**
 * What autoscaling promises, with real Slurm daemons: whole jobs, no needless wake-up, and no lost job when daemons or the operator are
 * killed, clocks differ, or machines are missing. `AUTOSCALE=full` runs all of it, with a kill behind every write of the operator, and takes
 * ten minutes; `AUTOSCALE_SLURM=24.11` chooses the release.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AutoscaleStage, autoscaleRelease, isAsleep } from '../../../../testing/autoscale-stage.ts';
import { Life } from '../../../../testing/life.ts';
import type { NodeSetStage } from '../../../../testing/nodeset-stage.ts';
import { PoweredSlurm } from '../../../../testing/powered-slurm.ts';

const full = process.env['AUTOSCALE'] === 'full';
const slurmd = { resources: { limits: { cpu: '4', memory: '4000Mi' } } };
/** More than the array below may have. */
const nodes = 12;
/** What takes minutes. */
const long = { skip: full ? false : 'runs with AUTOSCALE=full' };

let autoscaled: AutoscaleStage;
let slurm: PoweredSlurm;
let stage: NodeSetStage<PoweredSlurm>;

before(async () => {
  const conf = ['EnforcePartLimits=ALL', 'Licenses=seat:1'];
  slurm = await PoweredSlurm.start(autoscaleRelease, conf, { steppedClock: true });
  autoscaled = await AutoscaleStage.open(slurm, { slurmd });
  ({ stage } = autoscaled);
  // A slurmctld that is killed may forget that a worker has registered, and give its wake-up up: that is tried again soon.
  const capacity = { retryAfter: '10s' };
  await autoscaled.addNodeSet('gpu', { max: nodes, idleAfter: '2s', startWithin: '1m', capacity });
});
after(() => (autoscaled ?? slurm)?.[Symbol.asyncDispose]());

const wait = (what: string, holds: () => Promise<boolean>) => autoscaled.wait(what, holds);
const asleep = () => autoscaled.asleep();
const states = (name?: string) => autoscaled.states(name);
const pods = () => autoscaled.pods();
const submit = (more?: object, script?: string) => autoscaled.submit(more, script);
const client = () => slurm.mini.client();
const stateOf = async (id: number) => (await client().jobs.get(id))?.state ?? [];

async function completed(id: number): Promise<void> {
  await wait(`job ${id} to complete`, async () => {
    const state = await stateOf(id);
    assert.ok(!state.some((name) => /FAIL|CANCELLED|TIMEOUT/.test(name)), `job ${id} is ${state.join('+')}`);
    return state.includes('COMPLETED');
  });
  assert.equal((await client().jobs.get(id))?.restarts, 0, `job ${id} was started once`);
}

/**
 * slurmctld writes changes of its state within seconds, and only changes; one that is killed before that forgets them, with or without an
 * operator.
 */
async function saved(): Promise<void> {
  const since = Math.floor(Date.now() / 1000) + 1;
  await delay(1_000);
  const { id } = await submit({ hold: true });
  await slurm.mini.run('scontrol', 'update', 'nodename=gpu-7', `extra=${since}`);
  await wait('slurmctld to save its state', async () => {
    const stat = ['stat', '--format=%Y', '/cluster/state/job_state', '/cluster/state/node_state'];
    const { stdout } = await slurm.mini.controller.exec(stat);
    const times = stdout.split('\n').filter(Boolean).map(Number);
    return times.length === 2 && times.every((at) => at >= since);
  });
  await client().jobs.cancel(id);
}

async function killSlurmctld(): Promise<void> {
  await slurm.mini.controller.kill();
  await slurm.mini.controller.start();
  await wait('slurmctld to answer', async () => (await states()).length === nodes);
}

test('a job of eight nodes: one decision, eight pods, and all ranks run', async () => {
  const { id } = await submit({ nodes: 8, tasks: 8 }, 'srun sh -c "hostname -s" >/tmp/ranks');
  await wait('8 pods', async () => (await pods()).length === 8);
  await wait('the status to name the decision', async () => {
    const last = (await stage.nodeSet('gpu'))?.status?.autoscale?.last;
    return last?.did === 'Wake' && last.nodes === 'gpu-[0-7]' && last.jobs?.join() === String(id);
  });
  await wait('the ranks', async () => {
    const box = slurm.mini.nodes.get('gpu-0');
    const { stdout = '' } = (await box?.exec(['cat', '/tmp/ranks'], { allowFailure: true })) ?? {};
    return stdout.split('\n').filter(Boolean).length === 8;
  });
  await completed(id);
  await asleep();
});

test('held, later, dependent and licence-waiting jobs wake nothing', async () => {
  const holder = await submit({ requiredNodes: ['gpu-7'], more: { licenses: 'seat:1' } }, 'sleep 1000');
  await wait('the holder of the licence to run', async () => {
    const state = await stateOf(holder.id);
    return state.includes('RUNNING') && !state.includes('CONFIGURING');
  });
  const earlier = stage.writes().filter((write) => write === 'create pods').length;
  const held = await submit({ hold: true });
  const begin = { set: true, number: Math.floor(Date.now() / 1000) + 3600 };
  const waiting = [
    held,
    await submit({ more: { begin_time: begin } }),
    await submit({ dependency: `afterok:${held.id}` }),
    await submit({ more: { licenses: 'seat:1' } }),
  ];
  await delay(full ? 60_000 : 5_000);
  for (const { id } of waiting) assert.deepEqual(await stateOf(id), ['PENDING']);
  assert.deepEqual(await pods(), ['gpu-7']);
  assert.equal(stage.writes().filter((write) => write === 'create pods').length, earlier);
  for (const { id } of [...waiting, holder]) await client().jobs.cancel(id);
  await asleep();
});

test('a job array with a limit never has more workers awake than its limit', long, async (context) => {
  const [tasks, limit] = [40, 10];
  const { id } = await submit({ more: { array: `0-${tasks - 1}%${limit}`, exclusive: ['true'] } });
  let most = 0;
  await wait('all tasks to complete', async () => {
    // A worker that is idle stays for two seconds: what counts is what Slurm powers up or has a job.
    const busy = (await states()).filter((state) => /^(MIXED|ALLOCATED)/.test(state)).length;
    most = Math.max(most, busy);
    const all = (await client().jobs.list()).items.filter(
      ({ arrayJobId, id: own }) => (arrayJobId ?? own) === id,
    );
    return all.length === tasks && all.every(({ state }) => state.includes('COMPLETED'));
  });
  context.diagnostic(`${most} workers at once`);
  assert.ok(most > limit / 2 && most <= limit, `${most} workers at once`);
  await asleep();
});

test('slurmctld is killed while a job wakes its nodes, and while they go to sleep', async (context) => {
  const first = await submit({ nodes: 2, tasks: 2 });
  await saved();
  await killSlurmctld();
  await completed(first.id);
  await wait('a power-down', async () => /POWER(ING|ED)?_DOWN/.test((await states())[0] ?? ''));
  // Without that it believes that the worker is awake, and starts the next job when a new one has registered: two minutes.
  if (!full) await saved();
  await killSlurmctld();
  context.diagnostic(`after the second kill: ${(await states()).slice(0, 2).join(' ')}`);
  const second = await submit({ requiredNodes: ['gpu-0'] });
  const submitted = Date.now();
  await completed(second.id);
  context.diagnostic(`the next job took ${(Date.now() - submitted) / 1000} s`);
  await asleep();
});

test('the operator is killed behind each of its writes, and slurmctld with it', long, async (context) => {
  let k = 1;
  for (; k <= 60; k += 1) {
    await stage.stopOperator();
    const life = new Life(k);
    await stage.startOperator(life);
    const { id } = await submit({ nodes: 2, tasks: 2 });
    const isDone = async () =>
      life.over || ((await states()).every(isAsleep) && (await stateOf(id)).includes('COMPLETED'));
    await wait(`the operator to end behind write ${k}, or to end`, isDone);
    const crashed = life.over;
    context.diagnostic(
      `write ${k}: ${crashed ? `killed behind ${life.writes.at(-1)?.slice(0, 60)}` : 'not reached'}`,
    );
    await stage.stopOperator();
    if (k % 2 === 0 && crashed) {
      await saved();
      await killSlurmctld();
    }
    await stage.startOperator();
    await completed(id);
    await asleep();
    if (!crashed) break;
  }
  assert.ok(k > 8, 'there were writes to be killed behind');
});

test('a slurmd that starts again while its node is powered down changes nothing', long, async () => {
  const { id } = await submit({ requiredNodes: ['gpu-0'] });
  let started = 0;
  slurm.beforeEnd = async (name) => {
    const box = slurm.mini.nodes.get(name);
    await box?.restart(500);
    // Time enough to register, if slurmctld took it.
    await delay(2_000);
    const [state] = await states();
    assert.match(state ?? '', /POWER(ING|ED)_DOWN/);
    started += 1;
  };
  try {
    await completed(id);
    await asleep();
  } finally {
    slurm.beforeEnd = undefined;
  }
  assert.equal(started, 1);
  const next = await submit({ requiredNodes: ['gpu-0'] });
  await completed(next.id);
  await asleep();
});

for (const seconds of [60, -60])
  test(`the clock of slurmctld differs by ${seconds} s`, long, async () => {
    await slurm.mini.clock?.set(seconds);
    try {
      const { id } = await submit({ requiredNodes: ['gpu-1'] });
      await completed(id);
      await asleep();
    } finally {
      await slurm.mini.clock?.set(0);
    }
  });

test('without machines a job is requeued with the reason, and other NodeSets are used', async () => {
  autoscaled.noMachines.add('far');
  const capacity = { giveUpAfter: '10s', retryAfter: '2m' };
  await autoscaled.addNodeSet('far', { max: 2, idleAfter: '2s', startWithin: '1m', capacity });
  const began = Date.now();
  // Before 25.05 Slurm ends such a job with its nodes.
  const onFar = await submit({ requiredNodes: ['far-0'], requeue: false });
  await wait('the wake-up to be abandoned', async () => {
    const job = await client().jobs.get(onFar.id);
    return job?.state.includes('PENDING') === true && job.adminComment !== '';
  });
  const seconds = (Date.now() - began) / 1000;
  assert.ok(seconds >= 9, `abandoned after ${seconds} s`);
  const comment = (await client().jobs.get(onFar.id))?.adminComment ?? '';
  assert.match(comment, /requeued: .*Insufficient cpu.*; next try /);
  await wait('its own setting to be back', async () => {
    return /Requeue=0/.test(await slurm.mini.run('scontrol', 'show', 'job', String(onFar.id)));
  });
  await wait('the other node not to be offered', async () =>
    (await states('far')).every((state) => /DRAIN|DOWN/.test(state)),
  );
  await wait('the NodeSet to say so', async () => {
    const set = await stage.nodeSet('far');
    return set?.status?.conditions?.some(({ reason }) => reason === 'NoMachines') === true;
  });
  await client().jobs.cancel(onFar.id);
  const other = await submit({ more: { constraints: 'far|gpu' } });
  await completed(other.id);
  assert.match((await client().jobs.get(other.id))?.nodes ?? '', /^gpu-/);
  autoscaled.noMachines.delete('far');
});

test('autoscale is switched on and off while jobs run', async () => {
  await stage.createNodeSet('w', { slurmd, oversubscribeNode: true, replicas: 2 });
  await stage.untilReady('w', 2);
  const first = await submit({ requiredNodes: ['w-1'] }, 'sleep 12');
  await wait('the job to run', async () => (await stateOf(first.id)).join() === 'RUNNING');
  const uids = async () => new Map((await stage.pods()).map(({ metadata }) => [metadata.name, metadata.uid]));
  const uid = (await uids()).get('w-1');
  await stage.patchNodeSet('w', { autoscale: { max: 3, idleAfter: '1s' } });
  await wait('the idle worker to be removed', async () => !(await uids()).has('w-0'));
  assert.equal((await uids()).get('w-1'), uid);
  await completed(first.id);
  await wait('the other nodes to sleep', async () => {
    await autoscaled.createRecords('w');
    return (await states('w')).filter(isAsleep).length >= 2;
  });
  const second = await submit({ requiredNodes: ['w-0'] }, 'sleep 12');
  await wait('the second job to run', async () => (await stateOf(second.id)).join() === 'RUNNING');
  await stage.patchNodeSet('w', { autoscale: null });
  await completed(second.id);
  await stage.untilReady('w', 2);
});
