import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { NotSupported, Refused } from '../../src/errors.ts';
import {
  formatNodeState,
  isDrain,
  isDrained,
  isDraining,
  isNotResponding,
  isSchedulable,
} from '../../src/meaning/node-state.ts';
import { isNodeBusyError } from '../../src/operations/nodes.ts';
import type { Subject } from './subject.ts';
import { eventually, firstError, refusalStatus, wire } from './wire.ts';

export function nodes(of: () => Subject): void {
  describe('nodes', () => {
    const listed = async (name: string) => {
      const node = (await of().client().nodes.list()).items.find((item) => item.name === name);
      assert.ok(node !== undefined, `${name} is listed`);
      return node;
    };

    afterEach(async () => {
      const client = of().client();
      await client.nodes.undrain(['n0', 'n1', 'n2']);
      await eventually(async () => {
        for (const node of (await client.nodes.list()).items)
          assert.ok(!isDrain(node.state) && node.state.base === 'IDLE', formatNodeState(node.state));
      });
    });

    test('drain: IDLE+DRAIN with its reason, never DRAINED', async () => {
      const result = await of().client().nodes.drain('n0', 'test: scale-in');
      assert.equal(result.outcome, 'accepted');
      const node = await listed('n0');
      assert.ok(isDrained(node.state), formatNodeState(node.state));
      assert.equal(node.reason, 'test: scale-in');
      assert.equal(node.reasonSetBy, 'slurm');
      assert.ok(![...node.state.flags].some((flag) => /DRAINED|DRAINING/.test(flag)));
    });

    test('a drain needs no reason and takes a bare string for a state', async () => {
      assert.equal((await wire(of(), 'POST slurm/node/n1', { body: { state: ['DRAIN'] } })).status, 200);
      assert.equal(
        (await wire(of(), 'POST slurm/node/n1', { body: { state: 'DRAIN', reason: 'string' } })).status,
        200,
      );
      assert.equal((await listed('n1')).reason, 'string');
    });

    test('undrain is idempotent; resume of a healthy node is refused by Slurm and done for the client', async () => {
      const client = of().client();
      await client.nodes.drain('n2', 'test: x');
      for (const _ of [1, 2]) assert.equal((await client.nodes.undrain('n2')).outcome, 'accepted');
      assert.ok(!isDrain((await listed('n2')).state));
      const refused = await wire(of(), 'POST slurm/node/n2', { body: { state: ['RESUME'] } });
      assert.equal(refused.status, refusalStatus(of()));
      assert.equal(firstError(refused), of().release === '26.05' ? 2180 : 2028);
      assert.equal((await client.nodes.resume('n2')).outcome, 'accepted');
    });

    test('after an undrain or a resume a node does not respond until its slurmd was asked', async () => {
      const client = of().client();
      for (const [out, back] of [
        [() => client.nodes.drain('n0', 'test: x'), () => client.nodes.undrain('n0')],
        [() => client.nodes.down('n0', 'test: x'), () => client.nodes.resume('n0')],
      ] as const) {
        // It is asked within a second, by a timer of slurmctld's own: one that hangs cannot answer before we look.
        const goOn = await of().pauseSlurmd('n0');
        try {
          await out();
          await back();
          const { state } = await listed('n0');
          assert.ok(
            state.base === 'IDLE' && isNotResponding(state) && !isSchedulable(state),
            formatNodeState(state),
          );
        } finally {
          goOn();
        }
        await eventually(async () => assert.ok(isSchedulable((await listed('n0')).state)));
      }
    });

    test('an address is read as a string and wanted as a list; a string is accepted with a warning', async () => {
      const { address } = await listed('n0');
      const answer = await wire(of(), 'POST slurm/node/n0', { body: { address } });
      assert.equal(answer.status, 200);
      assert.match(answer.body.warnings?.[0]?.description ?? '', /Expected OpenAPI type=array/);
    });

    test('down, then resume', async () => {
      const client = of().client();
      await client.nodes.down('n2', 'test: dead');
      const down = await listed('n2');
      assert.equal(down.state.base, 'DOWN');
      assert.equal(down.reason, 'test: dead');
      await client.nodes.resume('n2');
      await eventually(async () => assert.equal((await listed('n2')).state.base, 'IDLE'));
    });

    test('an unknown state is 500 with 9207 in both releases', async () => {
      const answer = await wire(of(), 'POST slurm/node/n2', { body: { state: ['BOGUS'] } });
      assert.equal(answer.status, 500);
      assert.equal(firstError(answer), 9207);
    });

    test('a reboot cannot be asked for', async () => {
      for (const state of ['REBOOT_REQUESTED', 'REBOOT_ISSUED']) {
        const answer = await wire(of(), 'POST slurm/node/n0', { body: { state: [state], reason: 'kernel' } });
        assert.equal(answer.status, refusalStatus(of()));
        assert.equal(firstError(answer), of().release === '26.05' ? 2180 : 2028);
      }
    });

    test('an unknown field is ignored with a warning; an empty body does nothing', async () => {
      const answer = await wire(of(), 'POST slurm/node/n2', { body: { comment: 'c1', bogus: 1 } });
      assert.equal(answer.status, 200);
      assert.match(answer.body.warnings?.[0]?.description ?? '', /Ignoring unknown field "bogus"/);
      const before = await listed('n2');
      assert.equal((await wire(of(), 'POST slurm/node/n2', { body: {} })).status, 200);
      assert.equal(formatNodeState((await listed('n2')).state), formatNodeState(before.state));
    });

    test('a node that is gone: 2018 on the wire, done for a drain, an undrain, an update and a delete', async () => {
      for (const call of ['POST slurm/node/nope', 'DELETE slurm/node/nope']) {
        const answer = await wire(
          of(),
          call,
          call.startsWith('POST') ? { body: { state: ['DRAIN'], reason: 'x' } } : {},
        );
        assert.equal(answer.status, refusalStatus(of()), call);
        assert.equal(firstError(answer), 2018);
      }
      const client = of().client();
      assert.equal((await client.nodes.drain('nope', 'test: x')).outcome, 'gone');
      assert.equal((await client.nodes.undrain('nope')).outcome, 'gone');
      assert.equal((await client.nodes.update('nope', { comment: 'x' })).outcome, 'gone');
      assert.equal((await client.nodes.delete('nope')).outcome, 'gone');
    });

    test('many at once, also when one of them is gone', async () => {
      const client = of().client();
      await client.nodes.drain(['n0', 'n1'], 'test: bulk');
      assert.ok(isDrained((await listed('n0')).state) && isDrained((await listed('n1')).state));
      assert.ok(!isDrain((await listed('n2')).state));
      await client.nodes.undrain(['n0', 'n1', 'n2']);
      assert.ok(!isDrain((await listed('n0')).state));

      const raw = await wire(of(), 'POST slurm/nodes/', {
        body: { name: ['n0,nope,n2'], state: ['DRAIN'], reason: 'half' },
      });
      assert.equal(firstError(raw), 2018);
      assert.ok(isDrain((await listed('n0')).state), 'a refused update is not undone');
      const result = await client.nodes.drain(['n0', 'nope', 'n2'], 'test: all the same');
      assert.equal(result.outcome, 'accepted');
      assert.deepEqual(result.warnings, ['Slurm has no node nope']);
      for (const name of ['n0', 'n2']) assert.equal((await listed(name)).reason, 'test: all the same');
    });

    test('comment, extra and features are written together', async () => {
      const client = of().client();
      await client.nodes.update('n1', {
        comment: 'unit/x',
        extra: '{"unit":"x"}',
        features: ['mini', 'blue'],
      });
      const node = await listed('n1');
      assert.deepEqual(
        [node.comment, node.extra, node.features],
        ['unit/x', '{"unit":"x"}', ['mini', 'blue']],
      );
    });

    test('surprise: a refused update is applied in part', async () => {
      const comment = `half ${Date.now()}`;
      // Dropping a feature that is active is refused; the comment beside it is kept.
      const error: unknown = await of()
        .client()
        .nodes.update('n0', { features: ['other'], comment })
        .catch((caught: unknown) => caught);
      assert.ok(error instanceof Refused, String(error));
      assert.equal(error.status, refusalStatus(of()));
      assert.equal((await listed('n0')).comment, comment);
    });

    test('a busy node drains; it cannot be deleted; it is drained when its work is over', async () => {
      const client = of().client();
      const { id } = await client.jobs.submit({
        script: '#!/bin/sh\nsleep 30\n',
        requiredNodes: ['n1'],
        timeLimit: 5,
      });
      await eventually(async () => assert.equal((await listed('n1')).state.base, 'MIXED'));
      await client.nodes.drain('n1', 'test: draining');
      assert.ok(isDraining((await listed('n1')).state));
      const refused = await wire(of(), 'DELETE slurm/node/n1');
      assert.equal(refused.status, refusalStatus(of()));
      assert.equal(firstError(refused), 2016);
      await assert.rejects(client.nodes.delete('n1'), isNodeBusyError);
      await client.jobs.cancel(id);
      await eventually(async () => assert.ok(isDrained((await listed('n1')).state)));
    });

    test('a node that was deleted stays away although its slurmd runs on, until that is started again', async () => {
      const client = of().client();
      assert.equal((await client.nodes.delete('n2')).outcome, 'accepted');
      assert.equal(await client.nodes.get('n2'), undefined);
      // While a whole job comes and goes, its slurmd had every reason to say that it is there.
      const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 2\n' });
      await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['COMPLETED']));
      assert.deepEqual((await client.nodes.list()).items.map(({ name }) => name).toSorted(), ['n0', 'n1']);
      const start = await of().stopSlurmd('n2');
      await start();
      await eventually(async () => assert.ok(isSchedulable((await listed('n2')).state)));
    });

    test('nodes can be created from v0.0.44 on', async () => {
      const client = of().client();
      if (of().release === '24.11') return assert.rejects(client.nodes.create('NodeName=c7'), NotSupported);
      await client.nodes.create('NodeName=c7 CPUs=4 RealMemory=4000 Feature=mini State=CLOUD');
      const node = await listed('c7');
      assert.ok(node.state.flags.has('CLOUD'));
      assert.equal((await client.nodes.delete('c7')).outcome, 'accepted');
      assert.equal((await client.nodes.delete('c7')).outcome, 'gone');
    });

    test("a node's topology can be written from v0.0.43 on", async () => {
      const client = of().client();
      if (of().release === '24.11')
        return assert.rejects(client.nodes.update('n0', { topology: 'a:b' }), NotSupported);
      assert.equal((await client.nodes.update('n0', { topology: '' })).outcome, 'accepted');
    });
  });
}
