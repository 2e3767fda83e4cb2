/** The guard of restarts on real daemons of both releases: what it holds would really be lost, and what it lets through is not. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { signJwt, staticToken, systemClock } from '@slurm-operator/slurm';
import { type MiniSlurm, startMiniSlurm } from '@slurm-operator/slurm/testing';
import { SlurmConnection } from '../../slurm-connection/slurm-connection.ts';
import { WorkSurvey } from '../../slurm-connection/work-survey.ts';
import { guardRestart } from './guard-restart.ts';

const all = 'PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP';
const prolog = 'PrologSlurmctld=/etc/slurm/prolog.sh';
const script = '#!/bin/sh\nsleep 600\n';

for (const version of ['26.05', '24.11'] as const)
  describe(`Slurm ${version}`, () => {
    let slurm: MiniSlurm;
    let connection: SlurmConnection;

    before(async () => {
      const name = `restart-${version.replace('.', '')}-${process.pid}`;
      slurm = await startMiniSlurm({ version, nodes: 0, name });
      await slurm.addNode('w-0', 'CPUs=4 RealMemory=4000 Feature=w');
      await slurm.waitForNodes(['w-0']);
      connection = new SlurmConnection({
        server: slurm.server,
        token: staticToken(slurm.token()),
        clock: systemClock,
        onNews: () => undefined,
      });
    });
    after(async () => {
      await connection.close();
      await slurm.stop();
    });

    /** What a restart that the operator wants would wait for. */
    async function holds(lines: readonly string[] = []) {
      const survey = new WorkSurvey({ get: () => connection, lastPartitions: () => undefined }, systemClock);
      const work = await until('Slurm says what it has', async () => {
        const answer = await survey.work('hpc', 'slurm', AbortSignal.timeout(60_000), { fresh: true });
        return answer.kind === 'known' ? answer : undefined;
      });
      const inForce = [all, ...lines, ''].join('\n');
      return guardRestart({ inForce, slurm: work, keepsState: true, waitedMs: 0 }).map(
        ({ name, cause, jobs }) => [name, cause, jobs.ids.join()],
      );
    }
    const restart = async () => {
      await slurm.controller.restart(30_000);
      await slurm.waitForNodes(['w-0']);
    };
    const stateOf = async (id: number) => (await connection.client.jobs.get(id))?.state[0];
    const isIn = (id: number, state: string) =>
      until(`job ${id} is ${state}`, async () => (await stateOf(id)) === state);
    const submit = async (partition: string, hold = false) =>
      (await connection.client.jobs.submit({ script, partition, hold, requeue: false })).id;

    test('a restart waits for the jobs of a partition of scontrol, and without the guard they are lost', async () => {
      await slurm.run('scontrol', 'create', 'partition=adhoc', 'nodes=w-0', 'state=up');
      const [waits, stays] = [await submit('adhoc', true), await submit('all')];
      await isIn(stays, 'RUNNING');
      assert.deepEqual(await holds(), [['adhoc', 'jobs', String(waits)]]);
      await connection.client.jobs.cancel(waits);
      await isIn(waits, 'CANCELLED');
      assert.deepEqual(await holds(), [['adhoc', 'closing', '']], 'a job may still come');
      await slurm.run('scontrol', 'update', 'partition=adhoc', 'state=drain');
      assert.deepEqual(await holds(), []);
      await slurm.run('scontrol', 'update', 'partition=adhoc', 'state=up');
      const lost = await submit('adhoc', true);
      await restart();
      assert.equal(await stateOf(stays), 'RUNNING', 'what the guard lets through is not lost');
      assert.equal(await connection.client.partitions.get('adhoc'), undefined);
      assert.notEqual(await stateOf(lost), 'PENDING');
      await connection.client.jobs.cancel(stays);
      await isIn(stays, 'CANCELLED');
    });

    test('a restart waits for PrologSlurmctld, and the job goes on over the restart after it', async () => {
      const text = '#!/bin/sh\nuntil [ -e /cluster/state/go ]; do sleep 0.2; done\n';
      const install = 'printf %s "$1" >/etc/slurm/prolog.sh && chmod 755 /etc/slurm/prolog.sh';
      await slurm.controller.exec(['sh', '-c', install, 'sh', text]);
      await slurm.configure([prolog]);
      const { id } = await connection.client.jobs.submit({ script, requeue: false });
      await until('its prolog runs', async () =>
        (await connection.client.jobs.get(id))?.state.includes('CONFIGURING'),
      );
      assert.deepEqual(await holds([prolog]), [['PrologSlurmctld', 'jobs', String(id)]]);
      assert.deepEqual(await holds(), [], 'without such a script a job is only waiting for its node');
      await slurm.controller.exec(['touch', '/cluster/state/go']);
      await until('it is over', async () => {
        const state = (await connection.client.jobs.get(id))?.state ?? [];
        return state.includes('RUNNING') && !state.includes('CONFIGURING');
      });
      assert.deepEqual(await holds([prolog]), []);
      await restart();
      assert.equal(await stateOf(id), 'RUNNING');
      await connection.client.jobs.cancel(id);
      await isIn(id, 'CANCELLED');
    });

    test('slurmctld reads a new jwt.key with a reconfigure, and its jobs run on', async () => {
      const { id } = await connection.client.jobs.submit({ script, requeue: false });
      await isIn(id, 'RUNNING');
      const key = randomBytes(32).toString('base64');
      const replace =
        'umask 077; f=/etc/slurm/jwt_hs256.key; printf %s "$1" >$f.new && chown --reference=$f $f.new && mv $f.new $f';
      await slurm.controller.exec(['sh', '-c', replace, 'sh', key]);
      const token = signJwt({
        key: Buffer.from(key),
        user: 'slurm',
        lifetimeSeconds: 3600,
        now: Date.now(),
      });
      const renewed = new SlurmConnection({
        server: slurm.server,
        token: staticToken(token),
        clock: systemClock,
        onNews: () => undefined,
      });
      const ofJob = () =>
        renewed.client.jobs.get(id).then(
          (job) => job?.state[0],
          () => 'refused',
        );
      try {
        assert.equal(await ofJob(), 'refused', 'a replaced file alone changes nothing');
        await slurm.run('scontrol', 'reconfigure');
        await until('the new key is accepted', async () => (await ofJob()) === 'RUNNING');
        await renewed.client.jobs.cancel(id);
      } finally {
        await renewed.close();
      }
    });
  });
