/**
 * An autoscaled NodeSet with real daemons of Slurm: records, wake-ups, whole jobs, sleep, and jobs that come at the last moment.
 * `AUTOSCALE_SLURM=24.11` chooses the release, `AUTOSCALE_TRIES=1000 AUTOSCALE_NODES=24` runs the last one alone, so often.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@slurm-operator/kube/testing';
import { formatNodeState } from '@slurm-operator/slurm';
import { NodeSetStage } from '../../../../testing/nodeset-stage.ts';
import { PoweredSlurm } from '../../../../testing/powered-slurm.ts';

const release = process.env['AUTOSCALE_SLURM'] === '24.11' ? '24.11' : '26.05';
const tries = Number(process.env['AUTOSCALE_TRIES'] ?? 3);
/** A run of many tries has only these. */
const once = { skip: process.env['AUTOSCALE_TRIES'] === undefined ? false : 'AUTOSCALE_TRIES is set' };
const size = Number(process.env['AUTOSCALE_NODES'] ?? 4);
const lanes = Array.from({ length: size }, (_, ordinal) => `gpu-${ordinal}`);
let slurm: PoweredSlurm;
let stage: NodeSetStage<PoweredSlurm>;

before(async () => {
  slurm = await PoweredSlurm.start(release, ['EnforcePartLimits=ALL']);
  stage = await NodeSetStage.open<PoweredSlurm>(3, {
    slurm: (changed) => slurm.onChange(changed),
    endsWorkers: true,
  });
  await stage.startOperator();
  await stage.createNodeSet('gpu', {
    slurmd: { resources: { limits: { cpu: '4', memory: '4000Mi' } } },
    oversubscribeNode: true,
    autoscale: { max: size, idleAfter: '2s', startWithin: '1m' },
  });
  await wait(`${size} sleeping nodes`, async () => {
    await createRecords();
    return (await states()).filter(isAsleep).length === size;
  });
});

/** Before 25.11 the side container of slurmctld creates the nodes that the status lists. */
async function createRecords(): Promise<void> {
  const line = release === '24.11' && (await stage.nodeSet('gpu'))?.status?.autoscale?.recordsToCreate;
  if (line) await slurm.createRecords(line).catch(() => undefined); // they exist
}

after(async () => {
  await stage?.[Symbol.asyncDispose]();
  await slurm?.[Symbol.asyncDispose]();
});

const states = async () => (await slurm.truth()).map(({ state }) => formatNodeState(state));
const isAsleep = (state: string) => state.startsWith('IDLE') && state.includes('POWERED_DOWN');
const submit = (nodes: number, more: object = {}) =>
  slurm.mini
    .client()
    .jobs.submit({ script: '#!/bin/sh\nsleep 1\n', nodes, tasks: nodes, timeLimit: 5, ...more });
const job = async (id: number) => {
  const found = await slurm.mini.client().jobs.get(id);
  assert.ok(found !== undefined, `job ${id} is unknown to Slurm`);
  return found;
};
const completed = (id: number) =>
  wait(`job ${id} to complete`, async () => {
    const { state } = await job(id);
    assert.ok(!state.some((name) => /FAIL|CANCELLED|TIMEOUT/.test(name)), `job ${id} is ${state.join('+')}`);
    return state.includes('COMPLETED');
  });
const asleep = () =>
  wait(
    'all nodes to sleep',
    async () => (await states()).every(isAsleep) && (await stage.pods()).length === 0,
  );
const wait = (what: string, holds: () => Promise<boolean>) =>
  until(what, holds, {
    everyMs: 100,
    seconds: 180,
    seen: async () =>
      JSON.stringify([await states(), (await stage.pods()).map(({ metadata }) => metadata.name)]),
  });

test('sinfo shows the nodes that sleep, and a job that never fits is refused at submit', once, async () => {
  assert.match(await slurm.mini.run('sinfo', '-h', '-o', '%D %t'), new RegExp(`^${size} idle~$`, 'm'));
  // 24.11 refuses it in any case; 26.05 lets it wait (PartitionNodeLimit) unless EnforcePartLimits is set.
  await assert.rejects(submit(size + 1), /Node count specification invalid/);
  await wait(
    'the status to say so',
    async () => (await stage.nodeSet('gpu'))?.status?.autoscale?.sleeping === size,
  );
});

test(
  'a job of three nodes wakes three workers, held and waiting jobs wake none, and then all sleep',
  once,
  async () => {
    const held = await submit(1, { hold: true });
    const begin = { set: true, number: Math.floor(Date.now() / 1000) + 3600 };
    const later = await submit(1, { more: { begin_time: begin } });
    const dependent = await submit(1, { dependency: `afterok:${held.id}` });
    // A job that may start is allocated within seconds, and the others came first.
    const { id } = await submit(3);
    await wait('3 pods', async () => (await stage.pods()).length === 3);
    await completed(id);
    assert.equal((await job(id)).nodes, 'gpu-[0-2]');
    assert.equal((await job(id)).restarts, 0);
    await asleep();
    for (const waiting of [held.id, later.id, dependent.id]) {
      assert.equal((await job(waiting)).state.join(), 'PENDING');
      await slurm.mini.client().jobs.cancel(waiting);
    }
  },
);

test(
  'a feature that is added while all sleep can be asked for, and another size replaces the nodes',
  once,
  async () => {
    await stage.patchNodeSet('gpu', { extraConf: 'Feature=fast' });
    await wait('the nodes to have it', async () =>
      (await slurm.truth()).every(({ features }) => features.toSorted().join() === 'fast,gpu'),
    );
    const { id } = await submit(1, { constraints: 'fast' });
    await completed(id);
    await asleep();
    assert.ok((await slurm.truth()).every(({ features }) => features.toSorted().join() === 'fast,gpu'));
    // Slurm 24.11 allocates no node that was deleted and created again before it reads its files again.
    if (release === '24.11') return;
    let fewest = size;
    await stage.patchNodeSet('gpu', { slurmd: { resources: { limits: { cpu: '2', memory: '4000Mi' } } } });
    await wait('the nodes to have two CPUs', async () => {
      await createRecords();
      const nodes = await slurm.truth();
      fewest = Math.min(fewest, nodes.length);
      return (
        nodes.length === size &&
        nodes.every(({ cpus, state }) => cpus === 2 && isAsleep(formatNodeState(state)))
      );
    });
    assert.ok(fewest >= size / 2, `${fewest} of ${size} nodes were there at the least`);
    await stage.patchNodeSet('gpu', {
      slurmd: { resources: { limits: { cpu: '4', memory: '4000Mi' } } },
      extraConf: null,
    });
    await wait('the first size to be back', async () => {
      await createRecords();
      const nodes = await slurm.truth();
      return (
        nodes.length === size && nodes.every(({ cpus, features }) => cpus === 4 && features.join() === 'gpu')
      );
    });
    await asleep();
  },
);

test('a drain by a person survives the idle time, and its worker stays', once, async () => {
  const { id } = await submit(2, { script: '#!/bin/sh\nsleep 5\n' });
  // While the job runs: two seconds after its end the node may be powered down already.
  // A drain before its nodes are awake would requeue it.
  await wait(`job ${id} to run`, async () => {
    const { state } = await job(id);
    return state.includes('RUNNING') && !state.includes('CONFIGURING');
  });
  await slurm.mini.client().nodes.drain('gpu-0', 'broken fan');
  await completed(id);
  await wait('the other to sleep', async () => (await states()).filter(isAsleep).length === size - 1);
  const [node] = await slurm.truth();
  assert.deepEqual([node?.name, node?.reason, node?.state.flags.has('DRAIN')], ['gpu-0', 'broken fan', true]);
  assert.deepEqual(
    (await stage.pods()).map(({ metadata }) => metadata.name),
    ['gpu-0'],
  );
  await slurm.mini.client().nodes.undrain('gpu-0');
  await asleep();
});

test(`none of ${tries} jobs that are submitted around a power-down is lost`, async (context) => {
  const counted = { before: 0, powerDown: 0, poweringDown: 0, asleep: 0 };
  let left = tries;
  let seen: ReadonlyMap<string, readonly string[]> = new Map();
  const over = new AbortController();
  // One list for all lanes: a request of each would be the load of slurmctld.
  const look = async () => {
    while (!over.signal.aborted) {
      const { items } = await slurm.mini.client().jobs.states();
      seen = new Map(items.map(({ id, state }) => [id, state]));
      await delay(200);
    }
  };
  const flagsOf = (node: string): ReadonlySet<string> =>
    slurm.lastNodes()?.find(({ name }) => name === node)?.state.flags ?? new Set();
  const isStopping = (node: string) =>
    ['POWER_DOWN', 'POWERING_DOWN'].some((flag) => flagsOf(node).has(flag));
  // Each node is a lane of its own, and each job keeps it awake for the next one.
  const lane = async (node: string) => {
    for (let first = true; first || left > 0; first = false) {
      if (!first) {
        left -= 1;
        // Idle for 2 s: the operator powers it down between 2 and 4 s after the end of the job.
        const moment = Date.now() + 1000 + Math.random() * 3000;
        await wait('the moment', async () => Date.now() >= moment || isStopping(node));
        const later = Date.now() + Math.random() * 1000;
        await wait('the moment', async () => Date.now() >= later);
        const flags = flagsOf(node);
        if (flags.has('POWERING_DOWN')) counted.poweringDown += 1;
        else if (flags.has('POWER_DOWN')) counted.powerDown += 1;
        else if (flags.has('POWERED_DOWN')) counted.asleep += 1;
        else counted.before += 1;
      }
      const { id } = await submit(1, { requiredNodes: [node], script: '#!/bin/sh\nexit 0\n' });
      await wait(`job ${id} to complete`, async () => {
        const state = seen.get(String(id)) ?? [];
        assert.ok(
          !state.some((name) => /FAIL|CANCELLED|TIMEOUT/.test(name)),
          `job ${id} is ${state.join('+')}`,
        );
        return state.includes('COMPLETED');
      });
      assert.equal((await job(id)).restarts, 0, 'it was started once');
    }
  };
  const looking = look();
  try {
    await Promise.race([looking, Promise.all(lanes.map(lane))]);
  } finally {
    over.abort();
  }
  await looking;
  context.diagnostic(`submitted while the node was: ${JSON.stringify(counted)}`);
  await asleep();
});
