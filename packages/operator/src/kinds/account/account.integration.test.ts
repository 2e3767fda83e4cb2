/** Account on an embedded API server with a simulated accounting database. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '@slurm-operator/api';
import { events } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { emptyQos } from '@slurm-operator/slurm';
import { type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import { RowStage } from '../../../testing/row-stage.ts';
import { accounts } from '../../cache/resources.ts';

const cluster = 'mini';
let slurm: Simulator;
let stage: RowStage<Account>;

before(async () => {
  slurm = await startSimulator({ nodes: 'n[0-1]' });
  stage = await RowStage.open(slurm, accounts);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  await slurm.stop();
});

const table = () => stage.slurm.accounting.table;
const row = async (account: string, user = '') =>
  (await table().rows()).find((one) => one.account === account && one.user === user);
const record = async (account: string) => (await table().list()).find(({ name }) => name === account);
const addAccount = (name: string, parent = 'root') =>
  table().create(cluster, [{ name, parent, description: '', organization: '' }]);

test('an account gets the fields and members that the object names; what leaves it is unset or removed', async () => {
  await stage.slurm.accounting.qos.write([emptyQos('fast')]);
  await stage.create('lab', {
    description: 'the lab',
    fairshare: 10,
    qos: ['fast', 'normal'],
    defaultQos: 'fast',
    limits: { group: { jobs: 5, tres: { cpu: 8 } }, perJob: { wall: '24h' } },
    members: [
      { user: 'alice', fairshare: 3 },
      { user: 'bob', limits: { perMember: { jobs: 2 } } },
      { user: 'Carl' },
    ],
    coordinators: ['alice'],
  });
  await stage.ready('lab');
  const lab = await row('lab');
  assert.deepEqual(
    [lab?.fairshare, lab?.qos, lab?.defaultQos, lab?.parent],
    [10, ['fast', 'normal'], 'fast', 'root'],
  );
  assert.deepEqual(lab?.limits.group.tres, { cpu: 8 });
  assert.equal(lab?.limits.perJob.wallMinutes, 1440);
  assert.deepEqual(
    [(await row('lab', 'alice'))?.fairshare, (await row('lab', 'bob'))?.limits.perMember.jobs],
    [3, 2],
  );
  assert.deepEqual(await record('lab'), {
    name: 'lab',
    description: 'the lab',
    organization: '',
    coordinators: ['alice'],
    flags: [],
  });
  assert.equal((await stage.get('lab'))?.status?.members, 3);
  await stage.edit('lab', {
    description: null,
    qos: null,
    defaultQos: null,
    limits: { group: { tres: null } },
    coordinators: [],
    members: [{ user: 'alice' }, { user: 'bob', limits: { perMember: { submit: 4 } } }],
  });
  await stage.ready('lab');
  await until('Carl to leave', async () => (await row('lab', 'Carl')) === undefined);
  const changed = await row('lab');
  assert.deepEqual([changed?.fairshare, changed?.qos, changed?.defaultQos], [10, [], '']);
  assert.deepEqual(changed?.limits.group, { ...lab?.limits.group, tres: {} });
  assert.equal((await row('lab', 'alice'))?.fairshare, 1);
  const bob = (await row('lab', 'bob'))?.limits.perMember;
  assert.deepEqual([bob?.jobs, bob?.submit], ['infinite', 4]);
  assert.deepEqual((await record('lab'))?.coordinators, []);
  await until('the count of members', async () => (await stage.get('lab'))?.status?.members === 2);
});

test('members and fields that the object never named stay', async () => {
  await stage.create('shared', { members: [{ user: 'dora' }] });
  await stage.ready('shared');
  await table().addMembers({ cluster, account: 'shared' }, ['other-user']);
  const shared = await row('shared');
  assert.ok(shared);
  await table().write([{ ...shared, priority: 77 }]);
  await stage.edit('shared', { fairshare: 4, members: [] });
  await stage.ready('shared');
  await until('dora to leave', async () => (await row('shared', 'dora')) === undefined);
  const changed = await row('shared');
  assert.deepEqual([changed?.priority, changed?.fairshare], [77, 4]);
  assert.notEqual(await row('shared', 'other-user'), undefined);
});

test('an account waits for its parent; a circle is named', async () => {
  await stage.create('child', { parent: 'upper', members: [{ user: 'erin' }] });
  const told = await stage.ready('child', 'ParentNotFound');
  assert.match(told.message, /account upper, the parent of child, does not exist on cluster mini/);
  assert.equal(await row('child'), undefined);
  await stage.create('upper', { parent: 'root' });
  await stage.ready('child');
  assert.equal((await row('child'))?.parent, 'upper');
  await stage.edit('upper', { parent: 'child' });
  assert.match((await stage.ready('upper', 'ParentCycle')).message, /child cannot be the parent of upper/);
  await stage.edit('upper', { parent: 'root' });
  await stage.ready('upper');
  await stage.create('other');
  await stage.ready('other');
  await stage.edit('child', { parent: 'other' });
  await stage.ready('child');
  assert.equal((await row('child'))?.parent, 'other');
});

test('an account that existed before is only shown until adopt is set', async () => {
  await addAccount('old');
  await table().addMembers({ cluster, account: 'old' }, ['fay', 'gus']);
  await stage.create('old', { fairshare: 4, members: [{ user: 'fay', fairshare: 2 }] });
  const told = await stage.ready('old', 'NotAdopted');
  assert.match(told.message, /account old existed in Slurm before this object/);
  const plan = ['change mini fairshare from 1 to 4', 'change mini fay fairshare from 1 to 2'];
  assert.deepEqual((await stage.get('old'))?.status?.plan, plan);
  assert.equal((await row('old'))?.fairshare, 1);
  await stage.edit('old', { adopt: true });
  await stage.ready('old');
  assert.deepEqual([(await row('old'))?.fairshare, (await row('old', 'fay'))?.fairshare], [4, 2]);
  assert.notEqual(await row('old', 'gus'), undefined);
  assert.equal((await stage.get('old'))?.status?.plan, undefined);
});

test('drift is corrected, or only reported, as the object says', async () => {
  for (const drift of ['Correct', 'Report']) {
    const name = `drift-${drift.toLowerCase()}`;
    await stage.create(name, {
      fairshare: 5,
      drift,
      members: [{ user: 'hal', fairshare: 6 }, { user: 'ida' }],
    });
    await stage.ready(name);
    const member = await row(name, 'hal');
    assert.ok(member);
    await table().write([{ ...member, fairshare: 99 }]);
    await table().removeMember({ cluster, account: name, user: 'ida', partition: '' });
  }
  await stage.restart();
  await until('the correction', async () => (await row('drift-correct', 'hal'))?.fairshare === 6);
  await until('the member', async () => (await row('drift-correct', 'ida')) !== undefined);
  await stage.ready('drift-report', 'Drifted');
  const lines = (await stage.get('drift-report'))?.status?.drift;
  assert.deepEqual(lines, ['change mini hal fairshare from 99 to 6']);
  assert.equal((await row('drift-report', 'hal'))?.fairshare, 99);
  assert.equal(await row('drift-report', 'ida'), undefined);
});

test('the default account of a user: one object declares it, and a member leaves after it', async () => {
  await stage.create('first', { members: [{ user: 'jan', default: true }] });
  await stage.ready('first');
  await stage.create('second', { members: [{ user: 'jan', default: true }] });
  await until('the conflict', async () => {
    const { conditions = [] } = (await stage.get('second'))?.status ?? {};
    return conditions.some(
      ({ reason, message }) => reason === 'NameConflict' && /Account first is older/.test(message),
    );
  });
  assert.equal((await row('first', 'jan'))?.isDefault, true);
  await stage.edit('first', { members: [{ user: 'jan' }] });
  await until('the default', async () => (await row('second', 'jan'))?.isDefault === true);
  await stage.edit('second', { members: [] });
  const told = await stage.ready('second', 'DefaultAccount');
  assert.match(told.message, /jan stays a member of account second while it is the default/);
  await stage.edit('first', { members: [{ user: 'jan', default: true }] });
  await until('jan to leave', async () => (await row('second', 'jan')) === undefined);
});

test('Orphan leaves the rows, Delete removes them; what the object never wrote keeps the account', async () => {
  await stage.create('orphan', { members: [{ user: 'kim' }] });
  await stage.create('mine', { deletionPolicy: 'Delete', members: [{ user: 'lea' }, { user: 'max' }] });
  for (const name of ['orphan', 'mine']) await stage.ready(name);
  await addAccount('below', 'mine');
  for (const name of ['orphan', 'mine']) await stage.delete(name);
  await stage.gone('orphan');
  assert.notEqual(await row('orphan', 'kim'), undefined);
  const told = await until('NotEmpty', async () =>
    (await stage.get('mine'))?.status?.conditions?.find(({ reason }) => reason === 'NotEmpty'),
  );
  assert.match(told.message, /rows that this object never wrote \(cluster mini account below\)/);
  assert.notEqual(await row('mine', 'lea'), undefined);
  await table().delete('below');
  await stage.restart();
  await stage.gone('mine');
  assert.equal(await row('mine'), undefined);
  assert.equal(await record('mine'), undefined);
});

test('what cannot be written is named, and the rest of the batch is written', async () => {
  await Promise.all([
    stage.create('gpus', { limits: { group: { tres: { 'gres/none': 1 } } } }),
    stage.create('no-qos', { qos: ['not-there'] }),
    stage.create('no-cluster', { clusters: ['mini', 'elsewhere'] }),
    stage.create('no-user', { coordinators: ['unknown'] }),
    stage.create('good', { members: [{ user: 'nina' }] }),
  ]);
  await stage.ready('good');
  assert.match(
    (await stage.ready('gpus', 'InvalidSpec')).message,
    /limits "gres\/none", which this Slurm does not track/,
  );
  assert.match((await stage.ready('no-qos', 'QosNotFound')).message, /names QOS not-there/);
  assert.match((await stage.ready('no-cluster', 'ClusterNotFound')).message, /no cluster elsewhere/);
  assert.notEqual(await row('no-cluster'), undefined);
  await until('the unknown coordinator', async () =>
    (await stage.get('no-user'))?.status?.conditions?.some(({ reason }) => reason === 'UserNotFound'),
  );
  for (const name of ['gpus', 'no-qos']) assert.equal(await row(name), undefined);
});

test('a database that does not answer is unknown, never empty: nothing is created, removed or released', async () => {
  await stage.create('kept', { deletionPolicy: 'Delete', fairshare: 7, members: [{ user: 'oli' }] });
  await stage.ready('kept');
  slurm.faults.databaseDown = true;
  try {
    await stage.edit('kept', { fairshare: 8 });
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

test('many accounts are written with few requests; at rest nothing is written', async () => {
  const size = 40;
  const earlier = slurm.requests.length;
  await Promise.all(
    Array.from({ length: size }, (_, index) =>
      stage.create(`many-${index}`, {
        description: `number ${index}`,
        members: [0, 1, 2, 3, 4].map((user) => ({ user: `m${index}-${user}`, fairshare: 2 })),
      }),
    ),
  );
  for (let index = 0; index < size; index += 1) await stage.ready(`many-${index}`);
  const asked = slurm.requests.slice(earlier).filter(({ path }) => path.includes('slurmdb'));
  assert.ok(asked.length <= 60, asked.map(({ method, path }) => `${method} ${path}`).join('\n'));
  await stage.world.settled();
  const writes = () =>
    slurm.requests.filter(({ method, path }) => method !== 'GET' && path.includes('slurmdb')).length;
  // One object of this file is refused by Slurm, and tried again.
  await stage.edit('gpus', { limits: null });
  await stage.ready('gpus');
  await stage.world.settled();
  const written = writes();
  await stage.restart();
  await stage.world.settled();
  assert.equal(writes(), written);
});

test('events say what was written', async () => {
  await stage.create('told', { fairshare: 1, members: [{ user: 'pia' }] });
  await stage.ready('told');
  await stage.edit('told', { fairshare: 2 });
  await stage.ready('told');
  await until('an event', async () => {
    const { items } = await stage.kube.list(events, { namespace: 'hpc' });
    return items.some(
      ({ note }) => note === 'Changed account told in Slurm: change mini fairshare from 1 to 2.',
    );
  });
});
