import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { Forbidden, NotFound, NotSupported, Refused } from '../../src/errors.ts';
import { isBusy } from '../../src/meaning/node-state.ts';
import { hasEnded } from '../../src/model/job.ts';
import { JobWatch } from '../../src/watch/job-watch.ts';
import { versionsOf } from '../simulator/routes.ts';
import type { Subject } from './subject.ts';
import { eventually, firstError, refusalStatus, wire } from './wire.ts';

const environment = ['PATH=/usr/bin:/bin'];

async function cancelAll(subject: Subject): Promise<void> {
  const client = subject.client();
  for (const job of (await client.jobs.list()).items)
    if (!hasEnded(job.state)) await client.jobs.cancel(job.id);
  // A node is free of a job only when the job is no longer COMPLETING.
  await eventually(async () => {
    for (const job of (await client.jobs.list()).items) assert.ok(hasEnded(job.state), job.state.join('+'));
    for (const { name, state } of (await client.nodes.list()).items) {
      assert.equal(state.base, 'IDLE', name);
      assert.ok(!isBusy(state), name);
    }
  });
}

export function heterogeneousJobs(of: () => Subject): void {
  describe('heterogeneous jobs', () => {
    afterEach(() => cancelAll(of()));

    test('a heterogeneous job: jobs/state adds an offset to each number; the watch has the details of all components', async () => {
      const component = { environment, current_working_directory: '/tmp', nodes: '1', tasks: 1 };
      const body = { script: '#!/bin/sh\nsleep 60\n', jobs: [component, component] };
      const submitted = await wire(of(), 'POST slurm/job/submit', { body });
      assert.equal(submitted.status, 200, submitted.text);
      const first = Number(submitted.body['job_id']);
      const numbers = [String(first), String(first + 1)];
      const states = async (): Promise<string> => (await wire(of(), 'GET slurm/jobs/state/')).text;
      await eventually(async () => {
        const text = await states();
        for (const [offset, id] of numbers.entries()) assert.ok(text.includes(`"${id}+${offset}"`), text);
      });
      const watch = new JobWatch({ client: of().client() });
      using _fast = watch.pollFast();
      watch.start();
      try {
        await eventually(() => {
          const { view } = watch;
          assert.equal(view.kind, 'known');
          if (view.kind !== 'known') return;
          assert.deepEqual([...view.missing], []);
          assert.deepEqual([...view.running.keys()].toSorted(), numbers);
          for (const job of view.running.values()) assert.notEqual(job.nodes, '');
        });
      } finally {
        await watch.stop();
      }
    });
  });
}

export function jobs(of: () => Subject): void {
  describe('jobs', () => {
    const ended = (id: number) =>
      eventually(async () => {
        const job = await of().client().jobs.get(id);
        assert.ok(job !== undefined && hasEnded(job.state), job?.state.join('+'));
        return job;
      });

    afterEach(() => cancelAll(of()));

    test('submit, run, end', async () => {
      const client = of().client();
      const { id } = await client.jobs.submit({
        script: '#!/bin/sh\nsleep 0.2\n',
        name: 'hello',
        nodes: 3,
        timeLimit: 5,
      });
      const job = await ended(id);
      assert.deepEqual(job.state, ['COMPLETED']);
      assert.equal(job.name, 'hello');
      assert.equal(job.nodeCount, 3);
      assert.equal(job.exitCode, 0);
      assert.ok(
        (await client.jobs.states()).items.some(
          (item) => item.id === String(id) && item.state[0] === 'COMPLETED',
        ),
      );
      assert.deepEqual(
        (await client.jobs.states([id])).items.map((item) => item.id),
        [String(id)],
      );
      assert.deepEqual((await client.jobs.states([999_999])).items, []);
    });

    test('a script that fails', async () => {
      const { id } = await of().client().jobs.submit({ script: '#!/bin/sh\nexit 3\n' });
      const job = await ended(id);
      assert.deepEqual(job.state, ['FAILED']);
      assert.equal(job.stateReason, 'NonZeroExitCode');
      assert.equal(job.exitCode, 3);
    });

    test('time limits: minutes and [d-]hh:mm:ss from the client; the string itself is refused by both releases', async () => {
      const client = of().client();
      for (const [timeLimit, minutes] of [
        [90, 90],
        ['00:10:00', 10],
        ['1-00:00:00', 1440],
        ['infinite', 'infinite'],
      ] as const) {
        const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 1\n', timeLimit, hold: true });
        assert.equal((await client.jobs.get(id))?.timeLimit, minutes);
      }
      for (const version of versionsOf[of().release]) {
        const string = await wire(of(), 'POST slurm/job/submit', {
          version,
          body: {
            script: '#!/bin/sh\n',
            job: { environment, current_working_directory: '/tmp', time_limit: '00:10:00' },
          },
        });
        assert.equal(string.status, 500, version);
        assert.equal(firstError(string), 9202);
        assert.match(string.body.errors?.[0]?.description ?? '', /Expected integer but got "00:10:00"/);
      }
    });

    test('a submission as it is often written: the script inside the job, nodes as a string', async () => {
      for (const version of versionsOf[of().release]) {
        const answer = await wire(of(), 'POST slurm/job/submit', {
          version,
          body: {
            job: {
              name: 'test-job',
              nodes: '1',
              tasks: 1,
              cpus_per_task: 1,
              time_limit: 10,
              current_working_directory: '/tmp',
              environment,
              script: '#!/bin/sh\nsleep 0\n',
            },
          },
        });
        assert.equal(answer.status, 200, `${version}: ${answer.text}`);
        const job = await ended(Number(answer.body['job_id']));
        assert.deepEqual([job.state, job.timeLimit, job.nodeCount], [['COMPLETED'], 10, 1], version);
      }
    });

    test('refusals of slurmctld: 422 in 26.05, 500 in 24.11, with the same or another number', async () => {
      const modern = of().release === '26.05';
      const job = { environment, current_working_directory: '/tmp' };
      const cases = [
        { job: { ...job, partition: 'nope' }, number: 2000 },
        { job: { ...job, minimum_nodes: 99, tasks: 1 }, number: modern ? 2025 : 2014 },
        { job: { current_working_directory: '/tmp' }, number: modern ? 2127 : 2019 },
      ];
      for (const { job: wanted, number } of cases) {
        const answer = await wire(of(), 'POST slurm/job/submit', {
          body: { script: '#!/bin/sh\n', job: wanted },
        });
        assert.equal(answer.status, refusalStatus(of()), String(number));
        assert.equal(firstError(answer), number);
        assert.equal(answer.connection.toLowerCase(), 'close');
      }
      await assert.rejects(
        of().client().jobs.submit({ script: '#!/bin/sh\n', partition: 'nope' }),
        (error) =>
          error instanceof Refused &&
          error.number === 2000 &&
          error.text === 'Invalid partition name specified',
      );
    });

    test('what slurmrestd itself refuses is 422 in both: no script', async () => {
      const answer = await wire(of(), 'POST slurm/job/submit', { body: { job: { environment } } });
      assert.equal(answer.status, 422);
      assert.equal(firstError(answer), 9000);
    });

    test('hold and release', async () => {
      const client = of().client();
      const { id, warnings } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 0\n', hold: true });
      assert.equal(warnings.length, 2);
      const held = await client.jobs.get(id);
      assert.deepEqual([held?.state, held?.stateReason, held?.held], [['PENDING'], 'JobHeldUser', true]);
      await client.jobs.release(id);
      assert.deepEqual((await ended(id)).state, ['COMPLETED']);
    });

    test('update', async () => {
      const client = of().client();
      const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 1\n', hold: true, timeLimit: 5 });
      await client.jobs.update(id, { comment: 'note', timeLimit: '02:00:00' });
      const job = await client.jobs.get(id);
      assert.deepEqual([job?.comment, job?.timeLimit], ['note', 120]);
      await assert.rejects(client.jobs.hold(999_999), NotFound);
    });

    test('cancel: 200 whatever happens; what went wrong stands in status[]', async () => {
      const client = of().client();
      const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 60\n' });
      assert.equal((await client.jobs.cancel(id)).outcome, 'accepted');
      assert.deepEqual((await ended(id)).state, ['CANCELLED']);
      const again = await wire(of(), `DELETE slurm/job/${id}`);
      assert.equal(again.status, 200);
      assert.equal((again.body['status'] as { error: { code: number } }[])[0]?.error.code, 2021);
      assert.equal((await client.jobs.cancel(id)).outcome, 'ended');
      const unknown = await wire(of(), 'DELETE slurm/job/999999');
      assert.equal(unknown.status, 200);
      assert.equal((unknown.body['status'] as { error: { code: number } }[])[0]?.error.code, 2017);
      assert.equal((await client.jobs.cancel(999_999)).outcome, 'gone');
    });

    test('a signal reaches a running job only', async () => {
      const client = of().client();
      const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 60\n', hold: true });
      await assert.rejects(client.jobs.signal(id, 'USR1'), Refused);
      await client.jobs.release(id);
      await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['RUNNING']));
      assert.equal((await client.jobs.signal(id, 'CONT')).outcome, 'accepted');
    });

    test('requeue: from v0.0.45; the old way only sets a flag', async () => {
      const client = of().client();
      const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 60\n' });
      await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['RUNNING']));
      assert.equal((await wire(of(), `POST slurm/job/${id}`, { body: { requeue: true } })).status, 200);
      assert.deepEqual((await client.jobs.get(id))?.state, ['RUNNING']);
      if (of().release === '24.11') return assert.rejects(client.jobs.requeue(id), NotSupported);
      await client.jobs.requeue(id);
      await eventually(async () => {
        const job = await client.jobs.get(id);
        assert.equal(job?.restarts, 1);
      });
    });

    test('an ordinary user submits', async () => {
      const { id } = await of().client({ user: 'alice' }).jobs.submit({ script: '#!/bin/sh\nsleep 0\n' });
      const job = await ended(id);
      assert.equal(job.user, 'alice');
    });

    test('a job of another user: refused before Slurm is asked, which would answer no one any more', async () => {
      const { id } = await of().client({ user: 'alice' }).jobs.submit({ script: '#!/bin/sh\nsleep 60\n' });
      const other = of().client({ user: 'nobody' });
      await assert.rejects(other.jobs.cancel(id), (error) => {
        assert.ok(error instanceof Forbidden);
        assert.match(error.message, /belongs to alice: \w+ cannot end it/);
        return true;
      });
      await assert.rejects(other.jobs.signal(id, 'USR1'), Forbidden);
      // How it is known where Slurm names no owner: a change of nothing.
      await assert.rejects(other.jobs.update(id, {}), Forbidden);
      await of().client({ user: 'alice' }).jobs.update(id, {});
      assert.equal((await other.jobs.cancel(4711)).outcome, 'gone');
      const job = await of().client().jobs.get(id);
      assert.ok(job !== undefined && !hasEnded(job.state));
      // slurmctld takes writes.
      assert.equal((await of().client({ user: 'alice' }).jobs.cancel(id)).outcome, 'accepted');
      await of().client({ user: 'alice' }).jobs.submit({ script: '#!/bin/sh\n' });
    });

    test('two jobs in one question of states: a parameter each, because commas are refused', async () => {
      const client = of().client();
      const script = '#!/bin/sh\nsleep 60\n';
      const ids = [(await client.jobs.submit({ script })).id, (await client.jobs.submit({ script })).id];
      assert.deepEqual(
        (await client.jobs.states(ids)).items.map((item) => Number(item.id)),
        ids,
      );
      const commas = await wire(of(), `GET slurm/jobs/state/?job_id=${ids.join('%2C')}`);
      assert.equal(commas.status, 422);
    });
  });
}
