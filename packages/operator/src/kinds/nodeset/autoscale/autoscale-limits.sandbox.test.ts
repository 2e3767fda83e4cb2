/**
 * Limits of autoscaling, with real Slurm daemons and slurmdbd: jobs over a limit of their QOS, the most nodes that may be awake, nodes that
 * are smaller than announced, and wake-ups that fail repeatedly. `AUTOSCALE=full` watches for a minute; `AUTOSCALE_SLURM=24.11` chooses the release.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AutoscaleStage, autoscaleRelease, isAsleep } from '../../../../testing/autoscale-stage.ts';
import type { NodeSetStage } from '../../../../testing/nodeset-stage.ts';
import { PoweredSlurm } from '../../../../testing/powered-slurm.ts';

const full = process.env['AUTOSCALE'] === 'full';
const slurmd = { resources: { limits: { cpu: '1', memory: '500Mi' } } };
const mostAwake = 3;

let autoscaled: AutoscaleStage;
let slurm: PoweredSlurm;
let stage: NodeSetStage<PoweredSlurm>;

before(async () => {
  const limits = [
    'AccountingStorageEnforce=limits,qos',
    'AccountingStorageTRES=gres/gpu',
    'SlurmdParameters=shutdown_on_reboot', // no config_overrides: what a worker reports counts
    `SlurmctldParameters=enable_configless,power_save_interval=1,max_powered_nodes=${mostAwake}`,
  ];
  slurm = await PoweredSlurm.start(autoscaleRelease, limits, { accounting: true });
  for (const command of [
    'add account people',
    'add qos narrow GrpTRES=node=1',
    'add user slurm account=people qos=normal,narrow defaultqos=normal',
  ])
    await slurm.mini.run('sacctmgr', '-i', ...command.split(' '));
  autoscaled = await AutoscaleStage.open(slurm, { slurmd, job: { account: 'people' } });
  ({ stage } = autoscaled);
  await autoscaled.addNodeSet('gpu', { max: 5, idleAfter: '2s', startWithin: '1m' });
});
after(() => (autoscaled ?? slurm)?.[Symbol.asyncDispose]());

const wait = (what: string, holds: () => Promise<boolean>) => autoscaled.wait(what, holds);
const asleep = () => autoscaled.asleep();
const states = (name?: string) => autoscaled.states(name);
const pods = () => autoscaled.pods();
const submit = (more?: object, script?: string) => autoscaled.submit(more, script);
const client = () => slurm.mini.client();
const job = async (id: number) => {
  const found = await client().jobs.get(id);
  assert.ok(found !== undefined, `job ${id} is unknown to Slurm`);
  return found;
};
const reason = async (name: string, type: string) =>
  (await stage.nodeSet(name))?.status?.conditions?.find((condition) => condition.type === type);

const running = (id: number) =>
  wait(`job ${id} to run`, async () => {
    const { state } = await job(id);
    return state.includes('RUNNING') && !state.includes('CONFIGURING');
  });
test('a job over a limit of its QOS wakes nothing', async () => {
  const holder = await submit({ qos: 'narrow', requiredNodes: ['gpu-0'] }, 'sleep 1000');
  await running(holder.id);
  const earlier = stage.writes().filter((write) => write === 'create pods').length;
  const over = await submit({ qos: 'narrow', requiredNodes: ['gpu-1'] });
  await wait('its reason', async () => (await job(over.id)).stateReason.startsWith('QOSGrp'));
  await delay(full ? 60_000 : 5_000);
  assert.equal((await job(over.id)).state.join(), 'PENDING');
  assert.deepEqual(await pods(), ['gpu-0']);
  assert.equal(stage.writes().filter((write) => write === 'create pods').length, earlier);
  for (const { id } of [holder, over]) await client().jobs.cancel(id);
  await asleep();
});

test('no more nodes are awake than maxAwake: other jobs wait with the reason', async () => {
  const jobs: { readonly id: number }[] = [];
  // slurmctld counts nodes that it has begun to power up: jobs that are allocated in the same second are not seen by each other. So one waits.
  for (const n of [0, 1, 2, 3]) {
    jobs.push(await submit({ requiredNodes: [`gpu-${n}`] }, 'sleep 15'));
    await wait(`job ${n} to wake its node, or to wait`, async () => {
      const { state, stateReason } = await job(jobs.at(-1)?.id ?? 0);
      return n < mostAwake
        ? (await pods()).includes(`gpu-${n}`)
        : state.includes('PENDING') && stateReason !== 'None';
    });
  }
  let most = 0;
  const seen = new Set<string>();
  await wait('all to complete', async () => {
    most = Math.max(most, (await states()).filter((state) => !/POWER(ED|ING)?_DOWN/.test(state)).length);
    const all = await Promise.all(jobs.map(({ id }) => job(id)));
    for (const { state, stateReason } of all) if (state.includes('PENDING')) seen.add(stateReason);
    return all.every(({ state }) => state.includes('COMPLETED'));
  });
  assert.equal(most, mostAwake);
  assert.ok(
    [...seen].some((why) => /MaxPoweredUpNodes/i.test(why)),
    [...seen].join(),
  );
  await asleep();
});

test('wake-ups that fail repeatedly are tried every half hour only, until a worker starts', async () => {
  autoscaled.noMachines.add('far');
  const capacity = { giveUpAfter: '10s', retryAfter: '1s', protectAfter: 2 };
  await autoscaled.addNodeSet('far', { max: 2, idleAfter: '2s', startWithin: '1m', capacity });
  const { id } = await submit({ constraints: 'far' });
  await wait('the first failure', async () => (await job(id)).adminComment !== '');
  // The first job waits for two minutes before Slurm starts it again.
  const second = await submit({ constraints: 'far' });
  await wait('protection', async () => (await reason('far', 'Degraded'))?.reason === 'Protected');
  await wait('no node to be offered', async () =>
    (await states('far')).every((state) => /DRAIN|^DOWN/.test(state)),
  );
  const status = (await stage.nodeSet('far'))?.status?.autoscale;
  const next = Date.parse(status?.nextTry ?? '') - Date.now();
  assert.ok(next > 25 * 60_000 && next <= 30 * 60_000, `next try in ${next / 1000} s`);
  assert.ok((status?.failures ?? 0) >= 2);
  assert.match((await job(id)).adminComment, /requeued: .*; next try /);
  const other = await submit({ constraints: 'gpu' });
  await wait('the job of another NodeSet', async () => (await job(other.id)).state.includes('COMPLETED'));
  // Machines are there again, and a person tries it before half an hour is over.
  autoscaled.noMachines.delete('far');
  const [sleeping] = (await slurm.truth()).filter(
    ({ name, state }) => name.startsWith('far-') && state.base === 'IDLE' && state.flags.has('POWERED_DOWN'),
  );
  assert.ok(sleeping !== undefined);
  await slurm.mini.run('scontrol', 'update', `nodename=${sleeping.name}`, 'state=power_up');
  await wait('the protection to end', async () => (await reason('far', 'Degraded'))?.status === 'False');
  for (const each of [id, second.id]) await client().jobs.cancel(each);
  await wait('all of far to sleep', async () => (await states('far')).every(isAsleep));
});

test('a worker that is smaller than announced is named with both sizes, and its pod stays', async () => {
  const shape = { cpus: 4, memory: '900Gi' };
  await autoscaled.addNodeSet('big', { max: 1, idleAfter: '2s', startWithin: '1m', shape });
  const { id } = await submit({ constraints: 'big' });
  await wait('the condition', async () => (await reason('big', 'Degraded'))?.reason === 'ShapeMismatch');
  const message = (await reason('big', 'Degraded'))?.message ?? '';
  assert.match(message, /921600 MiB .*Low RealMemory/);
  assert.match(message, /reported:\d+/);
  const uid = async () =>
    (await stage.pods()).find(({ metadata }) => metadata.name === 'big-0')?.metadata.uid;
  const first = await uid();
  assert.ok(first !== undefined);
  await delay(full ? 60_000 : 10_000);
  assert.equal(await uid(), first, 'no other pod was created');
  await client().jobs.cancel(id);
});
