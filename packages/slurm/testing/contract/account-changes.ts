import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InvalidInput } from '../../src/errors.ts';
import { type AssociationKey, type AssociationRow, emptyAssociation } from '../../src/model/association.ts';
import { emptyQos } from '../../src/model/qos.ts';
import type { Subject } from './subject.ts';
import { wire } from './wire.ts';

const cluster = 'mini';
const keyOf = (account: string, user = ''): AssociationKey => ({ cluster, account, user, partition: '' });

/** Many accounts and members in few requests. */
export function accountChanges(of: () => Subject): void {
  const table = () => of().client().accounting.table;
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

  describe('many rows at once', () => {
    const at = (name: string, parent: string) => ({ cluster, name, parent });
    const text = (name: string) => ({
      name,
      description: `the ${name}`,
      organization: 'org',
      coordinators: [],
    });

    test('accounts and members of different accounts are created together, at their places in the tree', async () => {
      const names = ['m-one', 'm-two', 'm-sub'];
      const users = ['m-olga', 'm-paul', 'm-quin'].flatMap((user, index) => {
        const member = emptyAssociation(keyOf(names[index] ?? '', user));
        return [{ ...member, fairshare: 7 + index }];
      });
      await table().change(
        {
          // The child first: its parent is created by the same change.
          accounts: [at('m-sub', 'm-one'), at('m-one', 'root'), at('m-two', 'root')],
          records: names.map(text),
          rows: [...users, { ...emptyAssociation(keyOf('m-two', 'm-olga')), isDefault: true }],
        },
        await table().rows(),
      );
      assert.equal((await existing('m-sub')).parent, 'm-one');
      assert.deepEqual(
        (await Promise.all(users.map(({ account, user }) => existing(account, user)))).map(
          ({ fairshare }) => fairshare,
        ),
        [7, 8, 9],
      );
      assert.equal((await existing('m-two', 'm-olga')).isDefault, true);
      assert.equal((await existing('m-one', 'm-olga')).isDefault, false);
      assert.equal((await existing('m-two', 'm-paul')).isDefault, true, 'the first account is the default');
      const listed = await wire(of(), 'GET slurmdb/associations/?account=m-sub');
      const { associations } = listed.body as unknown as { associations: { lineage: string }[] };
      const places = associations.map(({ lineage }) => lineage).toSorted();
      assert.deepEqual(places, ['/m-one/m-sub/', '/m-one/m-sub/0-m-quin/']);
      const two = (await table().list()).find(({ name }) => name === 'm-two');
      assert.deepEqual([two?.description, two?.organization], ['the m-two', 'org']);
      await remove('m-sub', 'm-one', 'm-two');
    });

    test('a change that is repeated changes nothing, and no other row changes', async () => {
      await create('m-other');
      await table().addMembers({ cluster, account: 'm-other' }, ['m-rita']);
      const others = async () =>
        JSON.stringify((await table().rows()).filter(({ account }) => account !== 'm-lab'));
      const before = await others();
      const change = async () => {
        const current = await table().rows();
        const isThere = current.some(({ account }) => account === 'm-lab');
        const sam = {
          ...emptyAssociation(keyOf('m-lab', 'm-sam')),
          fairshare: 3,
          isDefault: true,
          qos: ['normal'],
        };
        const accounts = isThere ? [] : [at('m-lab', 'root')];
        await table().change({ accounts, records: [text('m-lab')], rows: [sam] }, current);
        return existing('m-lab', 'm-sam');
      };
      assert.deepEqual(await change(), await change());
      assert.equal(await others(), before);
      await remove('m-lab', 'm-other');
    });

    test('a list of QOS is emptied, and inherited again', async () => {
      await create('m-lab');
      await of()
        .client()
        .accounting.qos.write([emptyQos('m-qos')]);
      const lab = await existing('m-lab');
      const rows = [{ ...lab, qos: ['m-qos', 'normal'], defaultQos: 'm-qos' }];
      await table().change({ accounts: [], records: [], rows }, await table().rows());
      assert.deepEqual((await existing('m-lab')).qos, ['m-qos', 'normal']);
      await table().change({ accounts: [], records: [], rows: [lab] }, await table().rows());
      assert.deepEqual(await existing('m-lab'), lab);
      const listed = await wire(of(), 'GET slurmdb/associations/?account=m-lab');
      assert.match(listed.text.replaceAll(/\s/g, ''), /"qos":\["normal"\]/);
      const names = (await of().client().accounting.qos.list()).map(({ name }) => name);
      assert.ok(!names.some((name) => name.includes('placeholder')), String(names));
      await of().client().accounting.qos.delete('m-qos');
      await remove('m-lab');
    });

    test('a coordinator that Slurm does not know is ignored, with success', async () => {
      await create('m-lab');
      await table().addMembers({ cluster, account: 'm-lab' }, ['m-tina']);
      await table().describe([{ ...text('m-lab'), coordinators: ['m-tina', 'm-none'] }]);
      const lab = (await table().list()).find(({ name }) => name === 'm-lab');
      assert.deepEqual(lab?.coordinators, ['m-tina']);
      await remove('m-lab');
    });

    test('what Slurm would ignore is refused by the client, and nothing is written', async () => {
      const current = await table().rows();
      const none = { accounts: [], records: [], rows: [] };
      const rows = [emptyAssociation(keyOf('not-there', 'm-uma'))];
      await assert.rejects(table().change({ ...none, rows }, current), /account not-there does not exist/);
      const accounts = [at('m-one', 'm-two'), at('m-two', 'm-one')];
      await assert.rejects(table().change({ ...none, accounts }, current), /below each other/);
      for (const name of ["a'b", 'a b', '', 'é', 'Lab', 'x'.repeat(61)]) {
        await assert.rejects(
          table().change({ ...none, accounts: [at(name, 'root')] }, current),
          InvalidInput,
        );
        await assert.rejects(table().change({ ...none, records: [text(name)] }, current), InvalidInput);
      }
      const user = [emptyAssociation(keyOf('root', "a'b"))];
      await assert.rejects(table().change({ ...none, rows: user }, current), InvalidInput);
      assert.deepEqual(await table().rows(), current);
    });
  });
}
