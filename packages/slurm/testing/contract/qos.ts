import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InvalidInput, Refused } from '../../src/errors.ts';
import { emptyQos, type SlurmQos } from '../../src/model/qos.ts';
import { Random, randomQos } from '../random.ts';
import type { Subject } from './subject.ts';
import { firstError, refusalStatus, type WireAnswer, wire } from './wire.ts';

/** Writing a QOS: what slurmrestd does with a field that is left out, and how the client makes a row what was asked for. */
export function qos(of: () => Subject): void {
  const post = (...rows: object[]): Promise<WireAnswer> =>
    wire(of(), 'POST slurmdb/qos/', { body: { qos: rows } });
  const table = () => of().client().accounting.qos;
  const row = async (name: string): Promise<SlurmQos | undefined> => {
    const found = (await table().list()).find((each) => each.name === name);
    return found && { ...found, id: undefined };
  };
  const canEmpty = () => of().release === '26.05';
  const user = (tres: object[]) => ({ limits: { max: { tres: { per: { user: tres } } } } });
  const cpu = (count: number) => ({ type: 'cpu', name: '', count });
  const mem = (count: number) => ({ type: 'mem', name: '', count });

  describe('writing a QOS', () => {
    test('a scalar or a TRES that is left out stays; only a count of -1 removes a TRES', async () => {
      await post({ name: 'q-tres', priority: { set: true, number: 7 }, ...user([cpu(4)]) });
      await post({ name: 'q-tres', ...user([mem(100)]) });
      await post({ name: 'q-tres', ...user([]) });
      const merged = await row('q-tres');
      assert.equal(merged?.priority, 7);
      assert.deepEqual(merged?.limits.perUser.tres, { cpu: 4, mem: 100 });
      await post({ name: 'q-tres', ...user([cpu(-1)]) });
      assert.deepEqual((await row('q-tres'))?.limits.perUser.tres, { mem: 100 });
      await table().delete('q-tres');
    });

    test('flags and the preempt mode that are left out are reset', async () => {
      await post({ name: 'q-reset', flags: ['NO_DECAY'], preempt: { mode: ['REQUEUE'] } });
      assert.deepEqual((await row('q-reset'))?.flags, ['NO_DECAY']);
      await post({ name: 'q-reset', priority: { set: true, number: 1 } });
      const reset = await row('q-reset');
      assert.deepEqual(reset?.flags, []);
      assert.deepEqual(reset?.preemptMode, ['cluster']);
      await table().delete('q-reset');
    });

    test('a TRES that Slurm does not track is ignored with success; the client refuses it', async () => {
      const answer = await post({ name: 'q-unknown', ...user([{ type: 'gres', name: 'none', count: 3 }]) });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body.warnings, []);
      assert.deepEqual((await row('q-unknown'))?.limits.perUser.tres, {});
      const limits = { ...emptyQos('q-unknown').limits };
      const perUser = { ...limits.perUser, tres: { 'gres/none': 3 } };
      await assert.rejects(
        table().write([{ ...emptyQos('q-unknown'), limits: { ...limits, perUser } }]),
        InvalidInput,
      );
      await table().delete('q-unknown');
    });

    test('an empty preempt list changes nothing', async () => {
      await post({ name: 'q-low' });
      await post({ name: 'q-high', preempt: { list: ['q-low'] } });
      await post({ name: 'q-high', preempt: { list: [] } });
      assert.deepEqual((await row('q-high'))?.preempts, ['q-low']);
      for (const name of ['q-high', 'q-low']) await table().delete(name);
    });

    test('26.05: a QOS that is deleted leaves all preempt lists; 24.11: the client does not delete it', async () => {
      await table().write([emptyQos('q-low'), { ...emptyQos('q-high'), preempts: ['q-low'] }]);
      if (canEmpty()) {
        await table().delete('q-low');
        assert.deepEqual((await row('q-high'))?.preempts, []);
      } else {
        await assert.rejects(table().delete('q-low'), /q-high may preempt it/);
        await assert.rejects(
          table().write([emptyQos('q-high')]),
          /sacctmgr -i modify qos q-high set preempt=/,
        );
        assert.deepEqual((await row('q-high'))?.preempts, ['q-low'], 'nothing was written');
      }
      for (const name of ['q-high', 'q-low']) await table().delete(name);
    });

    test('a preempt list cannot name a QOS of the same request; nothing of that request is stored', async () => {
      const answer = await post({ name: 'q-first' }, { name: 'q-second', preempt: { list: ['q-first'] } });
      assert.equal(answer.status, refusalStatus(of()));
      assert.equal(firstError(answer), 2066);
      assert.equal(await row('q-first'), undefined);
      await table().write([emptyQos('q-first'), { ...emptyQos('q-second'), preempts: ['q-first'] }]);
      assert.deepEqual((await row('q-second'))?.preempts, ['q-first']);
      if (canEmpty()) {
        await table().write([emptyQos('q-second')]);
        assert.deepEqual(await row('q-second'), emptyQos('q-second'), 'the client empties the list');
      }
      for (const name of ['q-second', 'q-first']) await table().delete(name);
      assert.ok(!(await wire(of(), 'GET slurmdb/qos/')).text.includes('placeholder'));
    });

    test('an edit changes what it names and keeps what others wrote before', async () => {
      await table().edit('q-edit', (current) => {
        assert.equal(current, undefined);
        return { ...emptyQos('q-edit'), priority: 5 };
      });
      await post({ name: 'q-edit', flags: ['NO_DECAY'], ...user([cpu(4)]) });
      await table().edit('q-edit', (current) => ({ ...(current ?? emptyQos('q-edit')), priority: 6 }));
      const edited = await row('q-edit');
      assert.equal(edited?.priority, 6);
      assert.deepEqual(edited?.flags, ['NO_DECAY']);
      assert.deepEqual(edited?.limits.perUser.tres, { cpu: 4 });
      const refuse = () => {
        throw new Error('not this one');
      };
      await assert.rejects(table().edit('q-edit', refuse), /not this one/);
      await table().delete('q-edit');
    });

    test('a preempt list with an unknown name is refused', async () => {
      await assert.rejects(table().write([{ ...emptyQos('q-none'), preempts: ['not-there'] }]), Refused);
      await table().delete('q-none');
    });

    test('names are compared without case and trailing blanks; the client sends only names of one row', async () => {
      await post({ name: 'q-case' });
      await post({ name: 'Q-CASE', priority: { set: true, number: 3 } });
      assert.equal((await row('q-case'))?.priority, 3);
      const answer = await wire(of(), 'DELETE slurmdb/qos/q-case%20');
      assert.equal(answer.status, 200);
      assert.equal(await row('q-case'), undefined);
      for (const name of ['normal ', 'Normal', 'a b', "a'b", 'a,b', '%', '', '-1', 'é', 'x'.repeat(61)]) {
        await assert.rejects(table().delete(name), InvalidInput, name);
        await assert.rejects(table().write([emptyQos(name)]), InvalidInput, name);
        await assert.rejects(table().write([{ ...emptyQos('q-x'), preempts: [name] }]), InvalidInput, name);
      }
    });

    test('a row is what was written last, whatever it was before, and no other row changes', async () => {
      const random = new Random(21);
      const others = async () =>
        JSON.stringify((await table().list()).filter(({ name }) => name !== 'q-any'));
      await table().write([emptyQos('q-other')]);
      const before = await others();
      for (let edit = 0; edit < 12; edit += 1) {
        const desired = randomQos('q-any', random, canEmpty() ? ['normal', 'q-other'] : []);
        await table().write([desired]);
        assert.deepEqual(await row('q-any'), desired, `edit ${edit}`);
      }
      assert.equal(await others(), before);
      for (const name of ['q-any', 'q-other']) await table().delete(name);
    });
  });
}
