import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InvalidInput, NotSupported, Refused } from '../../src/errors.ts';
import { type AssociationKey, type AssociationRow, emptyAssociation } from '../../src/model/association.ts';
import { Random, randomAssociation } from '../random.ts';
import type { Subject } from './subject.ts';
import { firstError, refusalStatus, type WireAnswer, wire } from './wire.ts';

const cluster = 'mini';
const keyOf = (account: string, user = '', partition = ''): AssociationKey => ({
  cluster,
  account,
  user,
  partition,
});

/** Writing accounts, members and associations: what slurmrestd does with each request, and how the client makes rows what was asked for. */
export function accounts(of: () => Subject): void {
  const table = () => of().client().accounting.table;
  const post = (...associations: object[]): Promise<WireAnswer> =>
    wire(of(), 'POST slurmdb/associations/', { body: { associations } });
  const row = async (account: string, user = '', partition = ''): Promise<AssociationRow | undefined> =>
    (await table().rows()).find(
      (each) => each.account === account && each.user === user && each.partition === partition,
    );
  const existing = async (account: string, user = ''): Promise<AssociationRow> => {
    const found = await row(account, user);
    assert.ok(found, `${account} ${user}`);
    return found;
  };
  const create = (name: string, parent = 'root') =>
    table().create(cluster, [{ name, parent, description: `the ${name}`, organization: 'org' }]);
  /** Members first, then the account. */
  const remove = async (...names: readonly string[]) => {
    for (const name of names) {
      const users = (await table().rows()).filter(({ account, user }) => account === name && user !== '');
      for (const { user } of users) await table().deleteUser(user);
      await table().delete(name);
    }
  };
  const cpu = (count: number) => ({ type: 'cpu', name: '', count });
  const mem = (count: number) => ({ type: 'mem', name: '', count });

  describe('writing accounts', () => {
    test('an account is created below its parent, and one that exists stays as it is', async () => {
      await create('a-lab');
      await create('a-sub', 'a-lab');
      assert.deepEqual(await row('a-lab'), { ...(await existing('a-lab')), parent: 'root' });
      assert.equal((await row('a-sub'))?.parent, 'a-lab');
      await table().create(cluster, [
        { name: 'a-lab', parent: 'root', description: 'other', organization: 'other' },
      ]);
      const [lab] = (await table().list()).filter(({ name }) => name === 'a-lab');
      assert.deepEqual([lab?.description, lab?.organization], ['the a-lab', 'org']);
      await remove('a-sub', 'a-lab');
    });

    test('an account below an unknown parent, or on an unknown cluster, is refused', async () => {
      const below = [{ name: 'a-lost', parent: 'not-there', description: '', organization: '' }];
      await assert.rejects(table().create(cluster, below), Refused);
      await assert.rejects(
        table().create('not-there', [{ ...below[0], parent: 'root' } as (typeof below)[0]]),
        Refused,
      );
      assert.equal(await row('a-lost'), undefined);
    });

    test('description, organization and coordinators are written together', async () => {
      await create('a-lab');
      await table().addMembers({ cluster, account: 'a-lab' }, ['carol']);
      const only = await wire(of(), 'POST slurmdb/accounts/', {
        body: { accounts: [{ name: 'a-lab', description: 'x' }] },
      });
      assert.equal(firstError(only), 9200, 'Slurm requires both texts');
      const lab = { name: 'a-lab', description: 'new', organization: 'new org', coordinators: ['carol'] };
      await table().describe([lab]);
      const read = async () => (await table().list()).find(({ name }) => name === 'a-lab');
      assert.deepEqual({ ...lab, flags: [] }, await read());
      await table().describe([{ ...lab, coordinators: [] }]);
      assert.deepEqual((await read())?.coordinators, []);
      await assert.rejects(table().describe([{ ...lab, name: 'not-there' }]), InvalidInput);
      await remove('a-lab');
    });

    test('an account with members or accounts below it is not deleted by the client', async () => {
      await create('a-lab');
      await create('a-sub', 'a-lab');
      await assert.rejects(table().delete('a-lab'), /accounts below it/);
      await table().addMembers({ cluster, account: 'a-sub' }, ['dave']);
      await assert.rejects(table().delete('a-sub'), /user dave/);
      await remove('a-sub', 'a-lab');
      assert.equal(await row('a-lab'), undefined);
      assert.equal((await table().delete('a-lab')).outcome, 'gone');
    });

    test('names that do not mean one row are never sent', async () => {
      const text = { description: '', organization: '', coordinators: [] };
      for (const name of ['Lab', 'a b', "a'b", 'a,b', '%', '', '-1', 'é', 'x '].concat('x'.repeat(61))) {
        await assert.rejects(create(name), InvalidInput, name);
        await assert.rejects(create('a-x', name), InvalidInput, name);
        await assert.rejects(table().delete(name), InvalidInput, name);
        await assert.rejects(table().describe([{ ...text, name }]), InvalidInput, name);
        await assert.rejects(table().write([emptyAssociation(keyOf(name))]), InvalidInput, name);
        await assert.rejects(table().addMembers({ cluster, account: name }, ['u']), InvalidInput, name);
      }
      for (const user of ['a b', "a'b", 'a,b', '', 'é'])
        await assert.rejects(table().removeMember(keyOf('root', user)), InvalidInput, user);
    });
  });

  describe('writing an association', () => {
    test('a scalar that is left out stays, a TRES that is left out is removed: the opposite of a QOS', async () => {
      await create('a-lab');
      const limits = { jobs: { active: { set: true, number: 7 } }, tres: { total: [cpu(4), mem(5)] } };
      await post({ account: 'a-lab', cluster, user: '', partition: '', shares_raw: 9, max: limits });
      await post({ account: 'a-lab', cluster, user: '', partition: '', max: { tres: { total: [mem(6)] } } });
      const left = await existing('a-lab');
      assert.equal(left.fairshare, 9);
      assert.equal(left.limits.perMember.jobs, 7);
      assert.deepEqual(left.limits.group.tres, { mem: 6 });
      await remove('a-lab');
    });

    test('rows are listed with their own limits, not with those of their parents', async () => {
      await create('a-lab');
      await table().addMembers({ cluster, account: 'a-lab' }, ['erin']);
      const lab = await existing('a-lab');
      await table().write([
        { ...lab, limits: { ...lab.limits, perMember: { ...lab.limits.perMember, jobs: 7 } } },
      ]);
      assert.equal((await existing('a-lab', 'erin')).limits.perMember.jobs, 'infinite');
      const listed = await wire(of(), 'GET slurmdb/associations/?account=a-lab&user=erin');
      assert.match(listed.text.replaceAll(/\s/g, ''), /"active":\{"set":true,"infinite":false,"number":7\}/);
      await remove('a-lab');
    });

    test('a row is what was written last, whatever it was before, and no other row changes', async () => {
      const random = new Random(21);
      await create('a-lab');
      await create('a-other');
      await table().addMembers({ cluster, account: 'a-lab' }, ['frank', 'grace']);
      const others = async () =>
        JSON.stringify(
          (await table().rows()).filter(({ account, user }) => account !== 'a-lab' || user === 'grace'),
        );
      const before = await others();
      for (let edit = 0; edit < 12; edit += 1)
        for (const user of ['', 'frank']) {
          const desired = randomAssociation(await existing('a-lab', user), random);
          await table().write([desired]);
          assert.deepEqual(await existing('a-lab', user), desired, `edit ${edit} of "${user}"`);
        }
      assert.equal(await others(), before);
      await remove('a-lab', 'a-other');
    });

    test('a list of QOS that is inherited becomes the own list of a row with its first write', async () => {
      await create('a-lab');
      const lab = await existing('a-lab');
      assert.deepEqual(lab.qos, []);
      await table().write([{ ...lab, fairshare: 3 }]);
      assert.deepEqual((await existing('a-lab')).qos, ['normal']);
      await remove('a-lab');
    });

    test('a comment is ignored with success', async () => {
      await create('a-lab');
      await table().addMembers({ cluster, account: 'a-lab' }, ['kate']);
      const answer = await post({ account: 'a-lab', cluster, user: 'kate', partition: '', comment: 'words' });
      assert.ok(answer.status < 400);
      const listed = await wire(of(), 'GET slurmdb/associations/?account=a-lab&user=kate');
      assert.doesNotMatch(listed.text, /words/);
      await remove('a-lab');
    });

    test('an account moves with everything below it; an unknown parent is ignored by Slurm and refused by the client', async () => {
      for (const name of ['a-one', 'a-two']) await create(name);
      await create('a-sub', 'a-one');
      await table().write([{ ...(await existing('a-sub')), parent: 'a-two' }]);
      assert.equal((await existing('a-sub')).parent, 'a-two');
      const ignored = await post({
        account: 'a-sub',
        cluster,
        user: '',
        partition: '',
        parent_account: 'not-there',
      });
      assert.equal(ignored.status, 200);
      const sub = await existing('a-sub');
      assert.equal(sub.parent, 'a-two');
      await assert.rejects(
        table().write([{ ...sub, parent: 'not-there' }]),
        /account not-there does not exist/,
      );
      const two = await existing('a-two');
      await assert.rejects(table().write([{ ...two, parent: 'a-sub' }]), /which is below it/);
      await remove('a-sub', 'a-one', 'a-two');
    });

    test('a QOS must exist; a list of QOS that is empty changes nothing', async () => {
      await create('a-lab');
      const lab = await existing('a-lab');
      const unknown = await post({ account: 'a-lab', cluster, user: '', partition: '', qos: ['not-there'] });
      assert.equal(unknown.status, refusalStatus(of()));
      assert.equal(firstError(unknown), 2066);
      await table().write([{ ...lab, qos: ['normal'], defaultQos: 'normal' }]);
      await post({ account: 'a-lab', cluster, user: '', partition: '', qos: [] });
      const own = await existing('a-lab');
      assert.deepEqual([own.qos, own.defaultQos], [['normal'], 'normal']);
      await assert.rejects(table().write([{ ...own, qos: [] }]), NotSupported);
      // An empty name in the list ends slurmrestd of both releases: the client never sends one.
      await assert.rejects(table().write([{ ...own, qos: [''] }]), InvalidInput);
      await table().write([{ ...own, defaultQos: '' }]);
      assert.equal((await existing('a-lab')).defaultQos, '');
      await remove('a-lab');
    });

    test('a TRES that Slurm does not track, and a row that does not exist, are refused by the client', async () => {
      await create('a-lab');
      const lab = await existing('a-lab');
      const group = { ...lab.limits.group, tres: { 'gres/none': 1 } };
      await assert.rejects(table().write([{ ...lab, limits: { ...lab.limits, group } }]), /does not track/);
      await assert.rejects(table().write([emptyAssociation(keyOf('a-lab', 'nobody'))]), /create it first/);
      await remove('a-lab');
    });
  });

  describe('members', () => {
    test('the first account of a user is the default; it is read from the associations only', async () => {
      for (const name of ['a-one', 'a-two']) await create(name);
      await table().addMembers({ cluster, account: 'a-one' }, ['heidi', 'ivan']);
      await table().addMembers({ cluster, account: 'a-two' }, ['heidi']);
      assert.equal((await existing('a-one', 'heidi')).isDefault, true);
      assert.equal((await existing('a-two', 'heidi')).isDefault, false);
      await table().write([{ ...(await existing('a-two', 'heidi')), isDefault: true }]);
      assert.equal((await existing('a-one', 'heidi')).isDefault, false);
      assert.equal((await existing('a-two', 'heidi')).isDefault, true);
      assert.equal((await existing('a-one', 'ivan')).isDefault, true, 'no other user changed');
      await remove('a-one', 'a-two');
    });

    test('the last account of a user can be left, although it is the default', async () => {
      await create('a-lab');
      await table().addMembers({ cluster, account: 'a-lab' }, ['liam']);
      assert.equal((await table().removeMember(keyOf('a-lab', 'liam'))).outcome, 'accepted');
      assert.equal(await row('a-lab', 'liam'), undefined);
      await table().deleteUser('liam');
      await remove('a-lab');
    });

    test('the default account of a user cannot be left while there is another one', async () => {
      for (const name of ['a-one', 'a-two']) await create(name);
      for (const account of ['a-one', 'a-two']) await table().addMembers({ cluster, account }, ['judy']);
      const refused = (error: unknown) => error instanceof Refused && error.number === 7009;
      await assert.rejects(table().removeMember(keyOf('a-one', 'judy')), refused);
      await table().write([{ ...(await existing('a-two', 'judy')), isDefault: true }]);
      await table().removeMember(keyOf('a-one', 'judy'));
      assert.equal(await row('a-one', 'judy'), undefined);
      assert.equal((await table().removeMember(keyOf('a-one', 'judy'))).outcome, 'gone');
      await table().deleteUser('judy');
      assert.equal(await row('a-two', 'judy'), undefined);
      await remove('a-one', 'a-two');
    });

    test('a member of an account that does not exist is ignored by Slurm and refused by the client', async () => {
      const condition = { users: ['mallory'], accounts: ['not-there'], clusters: [cluster], association: {} };
      const ignored = await wire(of(), 'POST slurmdb/users_association/', {
        body: { association_condition: condition, user: {} },
      });
      assert.ok(ignored.status < 400, String(ignored.status));
      await assert.rejects(table().addMembers({ cluster, account: 'not-there' }, ['mallory']), InvalidInput);
    });

    test('two rows of a user differ in the partition: a request without one is ambiguous', async () => {
      await create('a-lab');
      await table().addMembers({ cluster, account: 'a-lab' }, ['niaj']);
      await table().addMembers({ cluster, account: 'a-lab', partition: 'all' }, ['niaj']);
      const answer = await wire(
        of(),
        `DELETE slurmdb/association/?account=a-lab&cluster=${cluster}&user=niaj`,
      );
      assert.equal(answer.status, 500);
      assert.equal(firstError(answer), 9210);
      await table().write([{ ...(await existing('a-lab', 'niaj')), fairshare: 3 }]);
      assert.equal((await row('a-lab', 'niaj', 'all'))?.fairshare, 1);
      await table().write([{ ...emptyAssociation(keyOf('a-lab', 'niaj', 'all')), fairshare: 'parent' }]);
      assert.equal((await row('a-lab', 'niaj', 'all'))?.fairshare, 'parent');
      assert.equal((await existing('a-lab', 'niaj')).fairshare, 3);
      await remove('a-lab');
    });
  });
}
