/**
 * Configuration changes under jobs, on an embedded API server with a simulated Slurm that obeys its slurm.conf as the real one does:
 * what leaves the file takes jobs with it. No job may end but by its own end or a person's order.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { annotation, conditionType } from '@slurm-operator/api';
import { startApiServer } from '@slurm-operator/apiserver';
import { configMaps, NotFoundError, pods, services } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { readConfiguration, type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import { aController, aNodeSet, aRestApi } from '../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { loopbackServices, SlurmBehindService } from '../../testing/slurm-behind-service.ts';
import { controllers, nodeSets, restApis } from '../cache/resources.ts';
import { versionFile } from '../slurm-config/render/config-map.ts';
import { trialName } from '../slurm-config/trial/trial-files.ts';

const namespace = 'hpc';
const ended = new AbortController();
let world: OperatorWorld;
let slurm: Simulator;
let proxy: SlurmBehindService;
let daemons: Promise<void>;

before(async () => {
  const server = await startApiServer({ serviceNetwork: loopbackServices });
  world = await startOperatorWorld(undefined, { server, stop: () => server.stop() });
  slurm = await startSimulator();
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', slurm.jwtKey);
  await world.put(controllers, aController({ maxNodeCount: 64 }));
  await world.put(restApis, aRestApi());
  await world.operate({
    reachBy: 'address',
    slurm: { requestTimeoutMs: 700, backoff: { initial: 100, limit: 500 }, pollPeriodMs: 200 },
  });
  const service = await until('the Service of slurmrestd', () =>
    world.client.find(services, { namespace, name: 'slurm-restapi' }),
  );
  proxy = await SlurmBehindService.open(service, slurm);
  daemons = runDaemons();
  await world.said(controllers, 'slurm', conditionType.slurmConnected, 'Connected');
});

after(async () => {
  ended.abort();
  await daemons;
  await world.stop();
  await proxy[Symbol.asyncDispose]();
  await slurm.stop();
});

/** slurmctld reads what is in force; whatever is tried passes. */
async function runDaemons(): Promise<void> {
  let read = '';
  while (!ended.signal.aborted) {
    const text = await slurmConf();
    if (text !== read) {
      readConfiguration(slurm.cluster, text);
      read = text;
    }
    const trial = { namespace, name: trialName('slurm') };
    if ((await world.client.find(pods, trial))?.status?.phase === 'Pending')
      await world.client
        .mergePatch(pods, trial, { status: { phase: 'Succeeded' } }, { subresource: 'status' })
        .catch((error: unknown) => {
          if (!(error instanceof NotFoundError)) throw error;
        });
    await pause(50);
  }
}

const slurmConf = async (): Promise<string> =>
  (await world.client.find(configMaps, { namespace, name: 'slurm-config' }))?.data?.['slurm.conf'] ?? '';

const inForce = (what: string, pattern: RegExp, wanted = true) =>
  until(what, async () => pattern.test(await slurmConf()) === wanted);

/** A NodeSet with a partition in force, a node of that partition, and a job on it; its own workers do not matter here. */
async function partitionWithJobs(
  name: string,
  jobs: { readonly running?: boolean; readonly pending?: boolean },
) {
  await world.put(nodeSets, aNodeSet({ replicas: 0, partition: { enabled: true } }, { name }));
  await inForce(`partition ${name}`, new RegExp(`^PartitionName=${name} `, 'm'));
  await until('Slurm knows it', () => slurm.cluster.partitions.has(name) || undefined);
  const node = `node-of-${name}`;
  slurm.cluster.addNode(node, { features: [name] });
  return {
    node,
    running: jobs.running === true ? slurm.cluster.runJob([node], { partition: name }) : 0,
    pending: jobs.pending === true ? slurm.cluster.createJob({ partition: name, held: true }).id : 0,
  };
}

const stateOf = (job: number) => slurm.cluster.job(job).state;
const closed = (name: string) => new RegExp(`^PartitionName=${name} .*State=DRAIN$`, 'm');
const gone = (name: string) =>
  until(`NodeSet ${name} is gone`, async () =>
    (await world.client.find(nodeSets, { namespace, name })) === undefined ? true : undefined,
  );
const message = async () =>
  (await world.said(controllers, 'slurm', conditionType.configApplied, 'ConfigHeld')).message;
const released = () => world.said(controllers, 'slurm', conditionType.configApplied, 'Applied');

test('a NodeSet that is deleted keeps its partition, closed, until its running and its pending job are gone', async () => {
  const { running, pending } = await partitionWithJobs('long', { running: true, pending: true });
  await world.client.delete(nodeSets, { namespace, name: 'long' });
  await inForce('the partition is closed', closed('long'));
  assert.match(
    await message(),
    /Partition long stays, closed to new jobs, because it has 1 running and 1 pending jobs/,
  );
  assert.match(await message(), /scancel --state=PENDING --partition=long/);
  const held = await world.said(nodeSets, 'long', conditionType.configApplied, 'ConfigHeld');
  assert.match(held.message, /scontrol update job=<job> partition=/);
  assert.deepEqual([stateOf(running), stateOf(pending)], ['RUNNING', 'PENDING']);

  slurm.cluster.finishJob(running);
  await until(
    'the hold names the pending job alone',
    async () => /has 1 pending job \(/.test(await message()) || undefined,
  );
  assert.equal(stateOf(pending), 'PENDING');
  assert.ok((await world.client.find(nodeSets, { namespace, name: 'long' })) !== undefined);

  slurm.cluster.finishJob(pending, 'CANCELLED');
  await gone('long');
  await inForce('nothing of it is left', /long/, false);
  await released();
});

test('a partition that is disabled stays until its jobs have ended', async () => {
  const { running, pending } = await partitionWithJobs('batch', { running: true, pending: true });
  await world.client.mergePatch(
    nodeSets,
    { namespace, name: 'batch' },
    { spec: { partition: { enabled: false } } },
  );
  await inForce('the partition is closed', closed('batch'));
  await message();
  slurm.cluster.finishJob(running);
  slurm.cluster.finishJob(pending, 'CANCELLED');
  await inForce('the partition is gone', /PartitionName=batch/, false);
  assert.deepEqual([stateOf(running), stateOf(pending)], ['COMPLETED', 'CANCELLED']);
  await inForce('the set itself stays', /^NodeSet=batch /m);
});

test('a NodeSet that is renamed keeps its old partition beside the new one', async () => {
  const { running } = await partitionWithJobs('gpu', { running: true });
  await world.client.mergePatch(
    nodeSets,
    { namespace, name: 'gpu' },
    { spec: { template: { spec: { hostname: 'h100-' } } } },
  );
  await inForce('both are there', /PartitionName=gpu [^]*PartitionName=h100 /);
  const held = await world.said(nodeSets, 'gpu', conditionType.configApplied, 'ConfigHeld');
  assert.match(held.message, /Partition gpu stays/);
  assert.equal(stateOf(running), 'RUNNING');
  slurm.cluster.finishJob(running);
  await inForce('the old one is gone', /PartitionName=gpu /, false);
  await world.said(nodeSets, 'gpu', conditionType.configApplied, 'Applied');
});

test('MaxNodeCount shrinks when the nodes fit, and not before', async () => {
  const { running, node } = await partitionWithJobs('many', { running: true });
  const nodes = slurm.cluster.nodes.size;
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { spec: { maxNodeCount: nodes - 1 } },
  );
  assert.match(
    await message(),
    new RegExp(`MaxNodeCount stays 64 instead of ${nodes - 1}, because Slurm has ${nodes} nodes`),
  );
  assert.deepEqual([stateOf(running), slurm.cluster.nodes.size], ['RUNNING', nodes]);
  slurm.cluster.finishJob(running);
  slurm.cluster.removeNode(node);
  await released();
  await world.client.mergePatch(controllers, { namespace, name: 'slurm' }, { spec: { maxNodeCount: 64 } });
  await inForce('it grows at once', /^MaxNodeCount=64$/m);
});

test('MaxNodeCount does not shrink below the workers that NodeSets ask for', async () => {
  const at = { namespace, name: 'slurm' };
  const coming = { namespace, name: 'coming' };
  await world.put(nodeSets, aNodeSet({ replicas: 5 }, { name: 'coming' }));
  const maxNodeCount = slurm.cluster.nodes.size + 2;
  await world.client.mergePatch(controllers, at, { spec: { maxNodeCount } });
  assert.match(await message(), /MaxNodeCount stays 64 .* more workers are about to register/);
  await world.client.mergePatch(nodeSets, coming, { spec: { replicas: 0 } });
  await released();
  await inForce(
    'it shrinks when they are not wanted any more',
    new RegExp(`^MaxNodeCount=${maxNodeCount}$`, 'm'),
  );
  await world.client.mergePatch(controllers, at, { spec: { maxNodeCount: 64 } });
  await inForce('it grows at once', /^MaxNodeCount=64$/m);
  await world.client.delete(nodeSets, coming);
  await gone('coming');
});

test('while Slurm does not answer nothing is removed, and what takes nothing away is put in force', async () => {
  const { running } = await partitionWithJobs('quiet', { running: true });
  slurm.faults.controllerDown = true;
  await world.said(controllers, 'slurm', conditionType.slurmConnected, 'ControllerUnreachable');
  await world.client.mergePatch(
    nodeSets,
    { namespace, name: 'quiet' },
    { spec: { partition: { enabled: false } } },
  );
  await world.put(nodeSets, aNodeSet({ replicas: 0 }, { name: 'added' }));
  await inForce('the new NodeSet', /^NodeSet=added /m);
  await inForce('the partition stays', closed('quiet'));
  assert.match(await message(), /it is unknown whether it has jobs/);
  slurm.faults.controllerDown = false;
  await until('the jobs are named', async () => /1 running job/.test(await message()) || undefined);
  slurm.cluster.finishJob(running);
  await inForce('the partition is gone', /PartitionName=quiet/, false);
});

test('deletionPolicy CancelPending waits for running jobs only', async () => {
  const { running, pending } = await partitionWithJobs('brief', { running: true, pending: true });
  await world.client.mergePatch(
    nodeSets,
    { namespace, name: 'brief' },
    { spec: { deletionPolicy: 'CancelPending' } },
  );
  await world.client.delete(nodeSets, { namespace, name: 'brief' });
  await inForce('the partition is closed', closed('brief'));
  assert.deepEqual([stateOf(running), stateOf(pending)], ['RUNNING', 'PENDING']);
  slurm.cluster.finishJob(running);
  await gone('brief');
  await until(
    'Slurm ends the pending job with its partition',
    () => stateOf(pending) !== 'PENDING' || undefined,
  );
});

test('a changed file of configFileRefs waits for the jobs of a partition that only Slurm has', async () => {
  const version = async () =>
    (await world.client.find(configMaps, { namespace, name: 'slurm-config' }))?.data?.[versionFile];
  await world.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: 'site-files' },
    data: { 'gres.conf': '# one\n' },
  });
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { spec: { configFileRefs: [{ name: 'site-files' }] } },
  );
  const first = await version();
  await until('the first file is in force', async () => (await version()) !== first || undefined);
  await released();
  slurm.cluster.partitions.set('adhoc', {
    name: 'adhoc',
    fromConfiguration: false,
    state: 'UP',
    features: undefined,
  });
  slurm.cluster.addNode('node-of-adhoc', {});
  const running = slurm.cluster.runJob(['node-of-adhoc'], { partition: 'adhoc' });
  const inForceNow = await version();
  await world.client.mergePatch(
    configMaps,
    { namespace, name: 'site-files' },
    { data: { 'gres.conf': '# two\n' } },
  );
  // Every reconfigure forgets the partition, with its job: docs/configuration-changes.md, last row of the table.
  await until('it is held or in force', async () => {
    const { status } = await world.client.get(controllers, { namespace, name: 'slurm' });
    const held = status?.conditions?.some(({ reason }) => reason === 'ConfigHeld') ?? false;
    return held || (await version()) !== inForceNow || undefined;
  });
  assert.equal(await version(), inForceNow, 'slurmctld is told to read its files again, and forgets adhoc');
  slurm.cluster.finishJob(running);
  slurm.cluster.partitions.delete('adhoc');
  await until('then it is in force', async () => (await version()) !== inForceNow || undefined);
});

test('a person can force it, and the force counts for nothing else', async () => {
  const first = await partitionWithJobs('one', { running: true });
  const second = await partitionWithJobs('two', { running: true });
  const disable = (name: string) =>
    world.client.mergePatch(nodeSets, { namespace, name }, { spec: { partition: { enabled: false } } });
  await disable('one');
  await inForce('the partition is closed', closed('one'));
  await message();
  const { status } = await world.client.get(controllers, { namespace, name: 'slurm' });
  const token = status?.heldConfig?.token ?? '';
  assert.ok((await message()).includes(`${annotation.forceConfig}=${token}`));
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { metadata: { annotations: { [annotation.forceConfig]: token } } },
  );
  await inForce('it is in force', /PartitionName=one /, false);
  await until('the job is lost, as asked', () => stateOf(first.running) === 'NODE_FAIL' || undefined);

  await disable('two');
  await inForce('the next one waits again', closed('two'));
  assert.equal(stateOf(second.running), 'RUNNING');
  slurm.cluster.finishJob(second.running);
  await inForce('and goes', /PartitionName=two /, false);
});
