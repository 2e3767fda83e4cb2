import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refused, SlurmError, Timeout, Unavailable } from '../../src/errors.ts';
import { formatNodeState, isDrain, isDrained } from '../../src/meaning/node-state.ts';
import { SlurmWatch } from '../../src/watch/slurm-watch.ts';
import type { Subject } from './subject.ts';
import { eventually, firstError, newestOf, wire } from './wire.ts';

export function outage(of: () => Subject): void {
  describe('outages', () => {
    const state = async (name: string) => {
      const node = (await of().client().nodes.list()).items.find((item) => item.name === name);
      assert.ok(node !== undefined, `${name} is listed`);
      return node.state;
    };

    test('slurmctld killed: what each call says, what the watch knows, and that all comes back', async () => {
      const client = of().client({});
      await using watch = new SlurmWatch({ client });
      watch.start();
      const fast = watch.pollFast();
      const before = await watch.nodes.listSince(0);
      assert.equal(before.nodes.size, 3);
      await watch.jobs.listSince(0);

      await using controller = await killedController(of());
      const moment = Date.now();
      const [list, drain, job, accounts] = await Promise.all([
        wire(of(), 'GET slurm/nodes/'),
        wire(of(), 'POST slurm/node/n0', { body: { state: ['DRAIN'], reason: 'x' } }),
        wire(of(), 'GET slurm/job/1'),
        wire(of(), 'GET slurmdb/accounts/'),
      ]);
      for (const answer of [list, drain]) {
        assert.equal(answer.status, 502);
        assert.equal(firstError(answer), 1800);
        assert.ok(answer.took >= of().blocksMs, `blocked for ${answer.took} ms`);
      }
      assert.equal(job.status, 500);
      assert.equal(firstError(job), -1);
      assert.ok(job.took >= of().jobBlocksMs, `blocked for ${job.took} ms`);
      assert.equal(accounts.status, 200, 'the database does not need slurmctld');

      const other = of().client({});
      await assert.rejects(other.controller.check(), Unavailable);
      await assert.rejects(other.nodes.list(), Unavailable);
      await assert.rejects(other.nodes.drain('n0', 'test: x'), Unavailable);
      await assert.rejects(
        of()
          .client()
          .nodes.list({ timeoutMs: of().blocksMs / 2 }),
        Timeout,
      );
      await eventually(() => {
        assert.equal(watch.nodes.view.kind, 'unknown');
        assert.equal(watch.jobs.view.kind, 'unknown');
      }, 120_000);
      const { view } = watch.nodes;
      assert.ok(view.kind === 'unknown' && view.last?.nodes.size === 3 && view.since >= before.at);
      assert.ok(view.why.code === 'Unavailable' || view.why.code === 'Timeout', view.why.code);
      await assert.rejects(watch.nodes.listSince(moment, { timeoutMs: 200 }), Timeout);

      await controller.back();
      const after = await watch.nodes.listSince(moment, { timeoutMs: 120_000 });
      assert.equal(after.nodes.size, 3);
      assert.ok(after.at > moment);
      fast[Symbol.dispose]();
      await eventually(async () => assert.equal((await state('n0')).base, 'IDLE'), 120_000);
    });

    test('slurmctld killed: a ping alone does not wait; after some failures in a row calls fail at once, until one gets through', async () => {
      const client = of().client({ circuit: { threshold: 1, pauseMs: 3000 } });
      await client.nodes.list();
      await using controller = await killedController(of());
      // Only without other calls under way: slurmrestd 26.05 may answer a ping beside blocked calls when those have ended.
      const ping = await wire(of(), 'GET slurm/ping/');
      assert.equal(ping.status, 200);
      assert.equal((ping.body['pings'] as { responding: boolean }[])[0]?.responding, false);
      const began = performance.now();
      await assert.rejects(client.nodes.list(), Unavailable);
      // Where a list waits for seconds one can see that ping does not; milliseconds are no measure.
      if (of().blocksMs >= 1000) assert.ok(ping.took < performance.now() - began, 'ping does not wait');
      const failure: unknown = await client.nodes.list().catch((caught: unknown) => caught);
      assert.ok(failure instanceof Unavailable && /next try/.test(failure.message), String(failure));
      assert.equal(client.circuit().state, 'open');
      await controller.back();
      await eventually(async () => {
        const listed = await client.nodes.list().catch((error: unknown) => {
          assert.ok(error instanceof SlurmError);
          return undefined;
        });
        assert.ok(listed !== undefined);
      });
      assert.equal(client.circuit().state, 'closed');
    });

    test('surprise: the end of a slurmd is not noticed; DOWN requeues its jobs at once, and then DELETE works', async () => {
      const client = of().client();
      const { id } = await client.jobs.submit({
        script: '#!/bin/sh\nsleep 60\n',
        requiredNodes: ['n1'],
        timeLimit: 5,
      });
      await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['RUNNING']));
      const start = await of().stopSlurmd('n1'); // it has ended: what it did not tell by now it will never tell
      await client.nodes.update('n1', {
        comment: 'slurmctld came to this after whatever it was told before',
      });
      assert.notEqual((await state('n1')).base, 'DOWN', 'slurmctld does not notice');
      assert.deepEqual((await client.jobs.get(id))?.state, ['RUNNING'], 'a stale record');
      await assert.rejects(client.nodes.delete('n1'), Refused);
      await client.nodes.down('n1', 'test: its machine is gone');
      await eventually(async () => {
        const job = await client.jobs.get(id);
        assert.ok(job !== undefined && job.state.includes('PENDING'), job?.state.join('+'));
        assert.equal(job.restarts, 1);
      });
      await client.jobs.cancel(id);
      await eventually(async () =>
        assert.equal((await client.nodes.delete('n1').catch(refusedYet)).outcome, 'accepted'),
      );
      assert.equal(await client.nodes.get('n1'), undefined);
      await start();
      await eventually(async () => assert.equal(formatNodeState(await state('n1')), 'IDLE+DYNAMIC_NORM'));
    });

    test('features, comment, extra and a drain with its reason survive a restart of slurmd', async () => {
      const client = of().client();
      await client.nodes.update('n2', { comment: 'mine', extra: 'more', features: ['mini', 'green'] });
      await client.nodes.drain('n2', 'test: kept');
      const start = await of().stopSlurmd('n2');
      const second = Math.floor(Date.now() / 1000) * 1000; // Slurm tells whole seconds
      await start();
      const node = await eventually(async () => {
        const found = (await client.nodes.list()).items.find(({ name }) => name === 'n2');
        assert.ok((found?.slurmdStartedAt ?? 0) >= second, 'the new slurmd has registered');
        return found;
      });
      assert.deepEqual(
        [node?.comment, node?.extra, node?.features, node?.reason],
        ['mine', 'more', ['mini', 'green'], 'test: kept'],
      );
      assert.ok(node && isDrain(node.state));
      await client.nodes.undrain('n2');
      await eventually(async () => assert.equal(formatNodeState(await state('n2')), 'IDLE+DYNAMIC_NORM'));
    });

    test('drained is what a list says that began after the drain was accepted', async () => {
      const client = of().client();
      await using watch = new SlurmWatch({ client });
      watch.start();
      const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 60\n', requiredNodes: ['n0'] });
      await eventually(async () => assert.equal((await state('n0')).base, 'MIXED'));
      const drain = await client.nodes.drain('n0', 'test: wait for it');
      const seen = await watch.nodes.listSince(drain.at);
      const busy = seen.nodes.get('n0');
      assert.ok(busy && isDrain(busy.state) && !isDrained(busy.state));
      const cancelled = await client.jobs.cancel(id);
      assert.equal(cancelled.outcome, 'accepted');
      await eventually(async () => {
        const { nodes } = await watch.nodes.listSince(Date.now());
        const node = nodes.get('n0');
        assert.ok(node && isDrained(node.state));
      });
      await client.nodes.undrain('n0');
      assert.equal(await client.apiVersion(), newestOf(of()));
    });
  });
}

/** Brings slurmctld back also when an assertion fails: the tests that follow need it. */
async function killedController(subject: Subject): Promise<AsyncDisposable & { back(): Promise<void> }> {
  const start = await subject.killController();
  let started: Promise<void> | undefined;
  const back = () => (started ??= start());
  return { back, [Symbol.asyncDispose]: back };
}

/** A node whose job is just ending is refused a moment longer. */
function refusedYet(error: unknown): { readonly outcome: 'busy' } {
  if (error instanceof Refused) return { outcome: 'busy' };
  throw error;
}
