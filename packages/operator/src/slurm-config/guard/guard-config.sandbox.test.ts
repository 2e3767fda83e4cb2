/** The guard on real daemons of both releases: what it puts in force costs no job, and all of it is in force once they have ended. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { staticToken, systemClock } from '@slurm-operator/slurm';
import { type MiniSlurm, startMiniSlurm } from '@slurm-operator/slurm/testing';
import { SlurmConnection } from '../../slurm-connection/slurm-connection.ts';
import { WorkSurvey } from '../../slurm-connection/work-survey.ts';
import { type GuardedConfig, guardConfig } from './guard-config.ts';
import { closedReason } from './slurm-work.ts';

/** The line that every mini Slurm has. */
const all = 'PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP';
const short = ['NodeSet=short Feature=short', 'PartitionName=short Nodes=short'];
const long = ['NodeSet=long Feature=long', 'PartitionName=long Nodes=long State=UP'];
const h100 = ['NodeSet=h100 Feature=h100', 'PartitionName=h100 Nodes=h100'];
const script = '#!/bin/sh\nsleep 600\n';

for (const version of ['26.05', '24.11'] as const)
  describe(`Slurm ${version}`, () => {
    let slurm: MiniSlurm;
    let connection: SlurmConnection;
    let inForce: string;

    before(async () => {
      slurm = await startMiniSlurm({
        version,
        nodes: 0,
        name: `guard-${version.replace('.', '')}-${process.pid}`,
      });
      await slurm.addNode('long-0', 'CPUs=4 RealMemory=4000 Feature=long');
      await slurm.addNode('short-0', 'CPUs=4 RealMemory=4000 Feature=short');
      await slurm.waitForNodes(['long-0', 'short-0']);
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

    const textOf = (lines: readonly string[]) => [all, ...lines, ''].join('\n');
    const putInForce = async (text: string) => {
      await slurm.configure(text.split('\n').filter((line) => line !== all));
      inForce = text;
    };
    /** What the operator does with a desired configuration: ask, guard, drain, put in force. */
    async function apply(desired: readonly string[]): Promise<GuardedConfig> {
      const survey = new WorkSurvey({ get: () => connection, lastPartitions: () => undefined }, systemClock);
      const signal = AbortSignal.timeout(60_000);
      const work = await until('Slurm says what it has', async () => {
        const answer = await survey.work('hpc', 'slurm', signal, { fresh: true });
        return answer.kind === 'known' ? answer : undefined;
      });
      const guarded = guardConfig({ inForce, desired: textOf(desired), slurm: work });
      await survey.setNodes('hpc', 'slurm', guarded.nodes, signal);
      if (guarded.text !== inForce) await putInForce(guarded.text);
      return guarded;
    }
    const start = (lines: readonly string[]) => putInForce(textOf(lines));
    afterEach(async () => {
      await slurm.run('scancel', '--user=slurm');
      await until('no job is left', async () =>
        (await slurm.run('squeue', '-h')).trim() === '' ? true : undefined,
      );
    });
    const stateOf = async (id: number) => (await connection.client.jobs.get(id))?.state[0];
    const isIn = (id: number, state: string) =>
      until(`job ${id} is ${state}`, async () => ((await stateOf(id)) === state ? true : undefined));
    const submit = async (partition: string, hold = false) =>
      (await connection.client.jobs.submit({ script, partition, hold, requeue: false })).id;
    /** Applies until the desired text is in force; says how often something was held on the way. */
    async function converges(desired: readonly string[]): Promise<void> {
      await until('the desired configuration is in force', async () =>
        (await apply(desired)).holds.length === 0 ? true : undefined,
      );
      assert.equal(inForce, textOf(desired));
    }

    test('a partition that leaves stays closed until its running and its pending job have ended', async () => {
      await start([...short, ...long]);
      const [runs, waits] = [await submit('long'), await submit('long', true)];
      await isIn(runs, 'RUNNING');
      const first = await apply(short);
      assert.deepEqual(
        [first.holds[0]?.name, first.holds[0]?.jobs],
        ['long', { active: 1, pending: 1, ids: [String(runs), String(waits)] }],
      );
      await until('the partition is closed', async () =>
        (await connection.client.partitions.get('long'))?.state.includes('DRAIN') === true ? true : undefined,
      );
      await assert.rejects(submit('long'), /Required partition not available/);
      await apply(short);
      assert.deepEqual([await stateOf(runs), await stateOf(waits)], ['RUNNING', 'PENDING']);
      await connection.client.jobs.cancel(waits);
      await isIn(waits, 'CANCELLED');
      assert.equal((await apply(short)).holds[0]?.jobs.active, 1);
      await connection.client.jobs.cancel(runs);
      await isIn(runs, 'CANCELLED');
      await converges(short);
      assert.equal(await connection.client.partitions.get('long'), undefined);
    });

    test('a node of slurm.conf is drained before its line goes, and stays for a job that asks for it', async () => {
      const node = 'NodeName=s1 NodeAddr=127.0.0.1 CPUs=1';
      await start([...short, node]);
      await slurm.run('sbatch', '--hold', '--nodelist=s1', '--partition=all', '--wrap=true');
      assert.equal((await apply(short)).holds[0]?.cause, 'jobs');
      assert.equal((await connection.client.nodes.get('s1'))?.state.flags.has('DRAIN'), false);
      await slurm.run('scancel', '--user=slurm');
      await until('the job has ended', async () =>
        (await slurm.run('squeue', '-h')).trim() === '' ? true : undefined,
      );
      assert.equal((await apply(short)).holds[0]?.cause, 'closing');
      const drained = await connection.client.nodes.get('s1');
      assert.deepEqual([drained?.state.flags.has('DRAIN'), drained?.reason], [true, closedReason]);
      await apply([...short, node]);
      // 24.11 opens only a node that has registered, and no slurmd runs for this one.
      if (version === '26.05')
        await until('it is open again', async () =>
          (await connection.client.nodes.get('s1'))?.state.flags.has('DRAIN') ? undefined : true,
        );
      await converges(short);
      assert.equal(await connection.client.nodes.get('s1'), undefined);
    });

    test('a costly setting waits until the partitions are closed, and opens them again', async () => {
      await start(short);
      const desired = [...short, 'MaxJobCount=500'];
      const open = await apply(desired);
      assert.match(open.holds[0]?.message ?? '', /Close partition all, short/);
      for (const partition of ['all', 'short'])
        await slurm.run('scontrol', 'update', `partition=${partition}`, 'state=inactive');
      await assert.rejects(submit('short'), /Required partition not available/);
      await converges(desired);
      await until('it is open again', async () =>
        (await connection.client.partitions.get('short'))?.state.includes('UP') ? true : undefined,
      );
    });

    test('a partition of scontrol with a job keeps the whole configuration', async () => {
      await start(short);
      await slurm.run('scontrol', 'create', 'partition=adhoc', 'nodes=short-0', 'state=up');
      const runs = await submit('adhoc');
      await isIn(runs, 'RUNNING');
      const held = await apply([...short, 'MessageTimeout=20']);
      assert.deepEqual([held.text, held.holds[0]?.name], [inForce, 'adhoc']);
      assert.equal(await stateOf(runs), 'RUNNING');
    });

    test('a rename keeps the old partition for its job, which goes on', async () => {
      await start([...short, ...long]);
      const runs = await submit('long');
      await isIn(runs, 'RUNNING');
      const both = await apply([...short, ...h100]);
      assert.equal(both.holds[0]?.name, 'long');
      await until('the new partition is there', () => connection.client.partitions.get('h100'));
      assert.equal(await stateOf(runs), 'RUNNING');
      await connection.client.jobs.cancel(runs);
      await isIn(runs, 'CANCELLED');
      await converges([...short, ...h100]);
    });

    test('nothing changes while a pending job asks for a node that is gone, and it survives until the node is back', async () => {
      const addNode = () => slurm.addNode('long-1', 'CPUs=4 RealMemory=4000 Feature=long');
      const deleteNode = async () => {
        await slurm.removeNode('long-1');
        await slurm.run('scontrol', 'update', 'node=long-1', 'state=down', 'reason=gone');
        await slurm.run('scontrol', 'delete', 'node=long-1');
      };
      await start([...short, ...long]);
      await addNode();
      await slurm.waitForNodes(['long-1']);
      const job = { script, partition: 'long', hold: true, requiredNodes: ['long-1'] };
      const { id } = await connection.client.jobs.submit(job);
      await deleteNode();
      const changed = [...short, ...long, 'MessageTimeout=33'];
      const held = await apply(changed);
      assert.deepEqual(
        held.holds.map(({ kind, name, jobs }) => [kind, name, jobs.ids]),
        [['Configuration', 'long-1', [String(id)]]],
      );
      await addNode();
      await slurm.waitForNodes(['long-1']);
      await converges(changed);
      await slurm.run('scontrol', 'reconfigure');
      assert.equal(await stateOf(id), 'PENDING');
      await connection.client.jobs.cancel(id);
      await isIn(id, 'CANCELLED');
      await deleteNode();
    });

    for (const line of ['NodeName=s[1-2] NodeAddr=127.0.0.1 CPUs=1', 'NodeName=f[1-2] CPUs=1 State=FUTURE'])
      test(`nodes of slurm.conf for which MaxNodeCount has no room wait: ${line}`, async () => {
        const most = [...short, ...long, 'MaxNodeCount=3'];
        await start(most);
        const ids = [await submit('long'), await submit('short')];
        for (const id of ids) await isIn(id, 'RUNNING');
        const held = await apply([...most, line]);
        await slurm.run('scontrol', 'reconfigure');
        assert.deepEqual(await Promise.all(ids.map(stateOf)), ['RUNNING', 'RUNNING']);
        assert.deepEqual([held.text, held.holds[0]?.cause], [inForce, 'nodes']);
        assert.match(held.holds[0]?.message ?? '', /MaxNodeCount=3 .* 2 more nodes .* 2 that Slurm has/);
        await converges([...short, ...long, 'MaxNodeCount=4', line]);
        assert.deepEqual(await Promise.all(ids.map(stateOf)), ['RUNNING', 'RUNNING']);
        for (const id of ids) await connection.client.jobs.cancel(id);
        for (const id of ids) await isIn(id, 'CANCELLED');
        await converges(most);
      });

    test('MaxNodeCount does not shrink under the nodes and their jobs', async () => {
      await start([...short, ...long, 'MaxNodeCount=1024']);
      const ids = [await submit('long'), await submit('short')];
      for (const id of ids) await isIn(id, 'RUNNING');
      const smaller = [...short, ...long, 'MaxNodeCount=1'];
      const held = await apply(smaller);
      assert.match(
        held.holds[0]?.message ?? '',
        /MaxNodeCount stays 1024 instead of 1, because Slurm has 2 nodes/,
      );
      assert.deepEqual(await Promise.all(ids.map(stateOf)), ['RUNNING', 'RUNNING']);
      assert.equal((await connection.client.nodes.list()).items.length, 2);
      for (const id of ids) await connection.client.jobs.cancel(id);
      for (const id of ids) await isIn(id, 'CANCELLED');
      await slurm.removeNode('short-0');
      await slurm.run('scontrol', 'update', 'node=short-0', 'state=down', 'reason=gone');
      await slurm.run('scontrol', 'delete', 'node=short-0');
      await converges(smaller);
      assert.deepEqual(
        (await connection.client.nodes.list()).items.map(({ name }) => name),
        ['long-0'],
      );
    });
  });
