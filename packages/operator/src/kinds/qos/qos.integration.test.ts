/** QualityOfService on an embedded API server with a simulated accounting database. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { QualityOfService } from '@slurm-operator/api';
import { events } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { emptyQos } from '@slurm-operator/slurm';
import { type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import { RowStage } from '../../../testing/row-stage.ts';
import { qualitiesOfService } from '../../cache/resources.ts';

let slurm: Simulator;
let stage: RowStage<QualityOfService>;

before(async () => {
  slurm = await startSimulator({ nodes: 'n[0-1]' });
  stage = await RowStage.open(slurm, qualitiesOfService);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  await slurm.stop();
});

const row = async (name: string) =>
  (await stage.slurm.accounting.qos.list()).find((one) => one.name === name);

test('a QOS gets the fields that the object names; fields that leave it are unset', async () => {
  await stage.create('high', {
    priority: 1000,
    flags: ['NoDecay', 'DenyOnLimit'],
    limits: { perUser: { jobs: 5, tres: { cpu: 8 } }, perJob: { wall: '24h' } },
  });
  await stage.ready('high');
  const high = await row('high');
  assert.equal(high?.priority, 1000);
  assert.deepEqual(high?.flags.toSorted(), ['DENY_LIMIT', 'NO_DECAY']);
  assert.deepEqual(high?.limits.perUser.tres, { cpu: 8 });
  assert.equal(high?.limits.perJob.wallMinutes, 1440);
  await stage.edit('high', { flags: null, limits: { perUser: { tres: null } } });
  await stage.ready('high');
  const changed = await row('high');
  assert.deepEqual(changed?.flags, []);
  assert.deepEqual(changed?.limits.perUser, { ...emptyQos('').limits.perUser, jobs: 5 });
  const id = await until('its number', async () => (await stage.get('high'))?.status?.slurmId);
  assert.equal(id, changed?.id);
});

test('fields that the object does not name keep what others wrote', async () => {
  await stage.create('shared', { priority: 1 });
  await stage.ready('shared');
  await stage.slurm.accounting.qos.edit('shared', (one) => ({
    ...(one ?? emptyQos('shared')),
    graceSeconds: 77,
  }));
  await stage.edit('shared', { priority: 2 });
  await stage.ready('shared');
  const shared = await row('shared');
  assert.deepEqual([shared?.priority, shared?.graceSeconds], [2, 77]);
});

test('a QOS that existed before is only shown until adopt is set', async () => {
  await stage.slurm.accounting.qos.write([{ ...emptyQos('old'), priority: 3 }]);
  await stage.create('old', { priority: 4 });
  const told = await stage.ready('old', 'NotAdopted');
  assert.match(told.message, /change priority from 3 to 4/);
  assert.deepEqual((await stage.get('old'))?.status?.plan, ['change priority from 3 to 4']);
  assert.equal((await row('old'))?.priority, 3);
  await stage.edit('old', { adopt: true });
  await stage.ready('old');
  assert.equal((await row('old'))?.priority, 4);
  assert.equal((await stage.get('old'))?.status?.plan, undefined);
});

test('drift is corrected, or only reported, as the object says', async () => {
  const foreign = (name: string) =>
    stage.slurm.accounting.qos.edit(name, (one) => ({ ...(one ?? emptyQos(name)), priority: 99 }));
  for (const drift of ['Correct', 'Report']) {
    const name = `drift-${drift.toLowerCase()}`;
    await stage.create(name, { priority: 5, drift });
    await stage.ready(name);
    await foreign(name);
  }
  await stage.restart();
  await until('the correction', async () => (await row('drift-correct'))?.priority === 5);
  const told = await stage.ready('drift-report', 'Drifted');
  assert.match(told.message, /change priority from 99 to 5/);
  assert.deepEqual((await stage.get('drift-report'))?.status?.drift, ['change priority from 99 to 5']);
  assert.equal((await row('drift-report'))?.priority, 99);
  await stage.edit('drift-report', { priority: 6 });
  await stage.ready('drift-report');
  assert.equal((await row('drift-report'))?.priority, 6, 'a change of the specification is written');
});

test('a QOS that preempts another one is written when that one exists', async () => {
  await stage.create('upper', { preempts: ['lower'], preemptMode: 'Requeue' });
  const told = await stage.ready('upper', 'QosNotFound');
  assert.match(told.message, /spec\.preempts names QOS lower/);
  assert.equal(await row('upper'), undefined);
  await stage.create('lower');
  await stage.ready('upper');
  assert.deepEqual((await row('upper'))?.preempts, ['lower']);
});

test('two objects of one row: the older one declares it', async () => {
  await stage.create('first', { name: 'one-row', priority: 1 });
  await stage.ready('first');
  await stage.create('second', { name: 'one-row', priority: 2 });
  const told = await stage.ready('second', 'NameConflict');
  assert.match(told.message, /QualityOfService first is older/);
  assert.equal((await row('one-row'))?.priority, 1);
});

test('Orphan leaves the row, Delete removes it; one that was not adopted stays', async () => {
  await stage.create('orphan');
  await stage.create('mine', { deletionPolicy: 'Delete' });
  for (const name of ['orphan', 'mine']) await stage.ready(name);
  await stage.slurm.accounting.qos.write([emptyQos('theirs')]);
  await stage.create('theirs', { deletionPolicy: 'Delete' });
  await stage.ready('theirs', 'NotAdopted');
  for (const name of ['orphan', 'mine', 'theirs']) await stage.delete(name);
  for (const name of ['orphan', 'mine', 'theirs']) await stage.gone(name);
  assert.notEqual(await row('orphan'), undefined);
  assert.equal(await row('mine'), undefined);
  assert.notEqual(await row('theirs'), undefined);
});

test('a QOS that jobs use is deleted after them, also where Slurm itself would not wait', async () => {
  const { id } = await stage.slurm.jobs.submit({ script: '#!/bin/sh\nsleep 600\n' });
  const { qos = '' } = (await stage.slurm.jobs.get(id)) ?? {};
  assert.notEqual(qos, '');
  await stage.create('used', { name: qos, adopt: true, deletionPolicy: 'Delete' });
  await stage.ready('used');
  await stage.delete('used');
  const told = await until('InUse', async () => {
    const { conditions = [] } = (await stage.get('used'))?.status ?? {};
    return conditions.find(({ reason }) => reason === 'InUse');
  });
  assert.match(told.message, new RegExp(`while jobs use it \\(${id}\\)`));
  assert.notEqual(await row(qos), undefined);
  await stage.slurm.jobs.cancel(id);
  await stage.gone('used');
  assert.equal(await row(qos), undefined);
});

test('what Slurm does not track is refused with a sentence, and nothing is written', async () => {
  await stage.create('gpus', { limits: { perUser: { tres: { 'gres/none': 1 } } } });
  const told = await stage.ready('gpus', 'InvalidSpec');
  assert.match(told.message, /limits "gres\/none", which this Slurm does not track/);
  assert.equal(await row('gpus'), undefined);
  await stage.edit('gpus', { limits: { perUser: { tres: { 'gres/none': null, cpu: 1 } } } });
  await stage.ready('gpus');
});

test('a database that does not answer is unknown, never empty: nothing is created or released', async () => {
  await stage.create('kept', { deletionPolicy: 'Delete', priority: 7 });
  await stage.ready('kept');
  slurm.faults.databaseDown = true;
  try {
    await stage.edit('kept', { priority: 8 });
    const told = await stage.ready('kept', 'DatabaseUnknown');
    assert.equal(told.status, 'Unknown');
    await stage.delete('kept');
    await until('the deletion to wait', async () => {
      const object = await stage.get('kept');
      return object?.metadata.deletionTimestamp !== undefined && object.metadata.finalizers?.length === 1;
    });
  } finally {
    slurm.faults.databaseDown = false;
  }
  await stage.gone('kept');
  assert.equal(await row('kept'), undefined);
});

test('events say what was written, and an object at rest writes nothing', async () => {
  await stage.create('quiet', { priority: 1 });
  await stage.ready('quiet');
  await stage.edit('quiet', { priority: 2 });
  await stage.ready('quiet');
  await until('an event', async () => {
    const { items } = await stage.kube.list(events, { namespace: 'hpc' });
    return items.some(({ note }) => note === 'Changed QOS quiet in Slurm: change priority from 1 to 2.');
  });
  await stage.world.settled();
  const posts = () =>
    slurm.requests.filter(({ method, path }) => method !== 'GET' && path.includes('qos')).length;
  const written = posts();
  await stage.restart();
  await stage.world.settled();
  assert.equal(posts(), written);
});
