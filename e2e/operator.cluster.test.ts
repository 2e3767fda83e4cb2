/** The whole: our operator makes the pods, real Slurm runs the jobs. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exec, KubeError, pods } from '@slurm-operator/kube';
import { hasEnded, type SlurmClient } from '@slurm-operator/slurm';
import { needsCluster } from './src/given/given-cluster.ts';
import { forDaemon } from './src/processes.ts';
import { namespace, SlurmStage } from './src/slurm-stage.ts';
import { until } from './src/until.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

describe(`the operator with Slurm ${wantedSlurm()}`, {
  ...needsCluster(3),
  concurrency: false,
  timeout: 1_500_000,
}, () => {
  let stage: SlurmStage;
  let slurm: SlurmClient;

  const end = async (id: number): Promise<string> => {
    const { state } = await until(`job ${id} has ended`, async () => {
      const job = await slurm.jobs.get(String(id));
      return job !== undefined && hasEnded(job.state) && job;
    });
    return state.join();
  };
  const submit = async (script: string, more: object = {}) =>
    (await slurm.jobs.submit({ script: `#!/bin/sh\n${script}\n`, timeLimit: 5, ...more })).id;

  const evict = (name: string) =>
    stage.client.json('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } },
      timeout: 30_000,
    });
  const isProtected = ({
    metadata,
  }: {
    metadata: { labels?: Readonly<Record<string, string>> | undefined };
  }) => metadata.labels?.['nodeset.slinky.slurm.net/pod-protect'] === 'true';

  before(async () => {
    stage = await SlurmStage.open({ name: `e2e-operator-${process.pid}`, nodes: 3 });
    await stage.startSlurm();
    await stage.createNodeSet('w', { replicas: 3, updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } });
    await stage.untilReady('w', 3);
    slurm = await stage.slurm();
  });
  after(() => stage?.[Symbol.asyncDispose]());

  it('a job on three workers completes', async () => {
    assert.equal(await end(await submit('srun hostname', { nodes: 3 })), 'COMPLETED');
  });

  it('scale-in waits for the job on the victim, which cannot be evicted meanwhile, and the job completes', async () => {
    const jobs = [
      await submit('sleep 8', { requiredNodes: ['w-0'] }),
      await submit('sleep 8', { requiredNodes: ['w-1'] }),
      await submit('sleep 8', { requiredNodes: ['w-2'] }),
    ];
    await until('all three run', async () =>
      (await Promise.all(jobs.map((id) => slurm.jobs.get(String(id))))).every((job) =>
        job?.state.includes('RUNNING'),
      ),
    );
    await stage.patchNodeSet('w', { replicas: 2 });
    await until('all three are protected', async () => (await stage.workers()).every(isProtected));
    for (const { metadata } of await stage.workers())
      await assert.rejects(evict(metadata.name), /disruption budget|Too many requests/i);
    assert.deepEqual(await Promise.all(jobs.map(end)), ['COMPLETED', 'COMPLETED', 'COMPLETED']);
    await stage.untilReady('w', 2);
    await until('Slurm has forgotten the node', async () => (await slurm.nodes.list()).items.length === 2);
    await stage.patchNodeSet('w', { replicas: 3 });
    await stage.untilReady('w', 3);
  });

  it('a rollout under load loses nothing, even when the operator is killed in the middle', async () => {
    const jobs = await Promise.all(Array.from({ length: 6 }, () => submit('sleep 4')));
    const old = new Set((await stage.workers()).map((pod) => pod.metadata.uid));
    await stage.patchNodeSet('w', { template: { metadata: { annotations: { rolled: 'yes' } } } });
    await until('the first worker was replaced', async () =>
      (await stage.workers()).some((pod) => !old.has(pod.metadata.uid)),
    );
    await stage.replaceOperator();
    await stage.untilReady('w', 3);
    assert.ok(
      (await stage.workers()).every((pod) => !old.has(pod.metadata.uid)),
      'all workers are new',
    );
    assert.deepEqual(new Set(await Promise.all(jobs.map(end))), new Set(['COMPLETED']));
    await until('nothing stays drained', async () =>
      (await slurm.nodes.list()).items.every((node) => !node.state.flags.has('DRAIN')),
    );
  });

  it('a node that an administrator sets DOWN stays out of service until it is resumed', async () => {
    const stateOf = async () => (await slurm.nodes.list()).items.find(({ name }) => name === 'w-1');
    // Slurm may end a DOWN every third of SlurmdTimeout, here 20 s, and so before the operator's next poll.
    await until('it is drained as well', async () => {
      const { state } = (await stateOf()) ?? {};
      if (state?.base !== 'DOWN' && !state?.flags.has('DRAIN'))
        await slurm.nodes.update('w-1', { state: 'DOWN', reason: 'bad fan' });
      return state?.flags.has('DRAIN') ?? false;
    });
    // Every slurmd registers again, which ends a DOWN where ReturnToService is 2.
    await slurm.controller.reconfigure();
    await until('it has registered', async () => (await stateOf())?.state.base === 'IDLE');
    const node = await stateOf();
    assert.deepEqual([node?.state.flags.has('DRAIN'), node?.reason], [true, 'bad fan']);
    await slurm.nodes.update('w-1', { state: 'RESUME' });
    await until('it takes jobs again', async () => (await stateOf())?.state.flags.has('DRAIN') === false);
    assert.equal(await end(await submit('true', { requiredNodes: ['w-1'] })), 'COMPLETED');
  });

  it('a slurmctld that is killed between the two renames of a save forgets no job', async () => {
    const id = await submit('sleep 6', { name: 'exchanged' });
    const inSlurmctld = (script: string) =>
      exec(stage.client, { namespace, name: 'main-controller-0' }, ['bash', '-c', script], {
        container: 'slurmctld',
        timeout: 60_000,
      });
    const file = '/var/spool/slurmctld/*/job_state';
    await until(
      'the job is saved',
      async () => (await inSlurmctld(`grep -q exchanged ${file}`)).exitCode === 0,
    );
    // As 26.05 leaves it: the file of before is away, the next one is there under its other name.
    const rename = 'mv "$file" "$file.old"; cp "$file.old" "$file.new"';
    const between = `file=$(echo ${file}); kill -STOP "$pid"; ${rename}; kill -KILL "$pid"`;
    const { stderr } = await inSlurmctld(forDaemon('slurmctld', between)).catch((error: unknown) => {
      // The container ended, and the connection with it.
      if (error instanceof KubeError) return { stderr: '' };
      throw error;
    });
    assert.equal(stderr, '');
    await until('another slurmctld answers', () => slurm.jobs.list());
    assert.equal(await end(id), 'COMPLETED');
  });

  it('an eviction of a busy worker is refused, and allowed when its job is over', async () => {
    const id = await submit('sleep 6', { requiredNodes: ['w-0'] });
    await until('the pod is protected', async () =>
      isProtected(await stage.client.get(pods, { namespace, name: 'w-0' })),
    );
    await assert.rejects(evict('w-0'), /disruption budget|Too many requests/i);
    assert.equal(await end(id), 'COMPLETED');
    await until(
      'the pod is free',
      async () => !isProtected(await stage.client.get(pods, { namespace, name: 'w-0' })),
    );
    await evict('w-0');
    await stage.untilReady('w', 3);
  });

  it('deleting the NodeSet waits for the last job and leaves nothing in Slurm', async () => {
    const id = await submit('sleep 5', { requiredNodes: ['w-1'] });
    await until(
      'it runs',
      async () => (await slurm.jobs.get(String(id)))?.state.includes('RUNNING') ?? false,
    );
    await stage.client.delete(
      { apiVersion: 'slinky.slurm.net/v1beta1', kind: 'NodeSet', plural: 'nodesets', namespaced: true },
      { namespace, name: 'w' },
    );
    assert.equal(await end(id), 'COMPLETED');
    await until('the NodeSet is gone', async () => (await stage.nodeSet('w')) === undefined, {
      seen: async () => {
        const nodes = (await slurm.nodes.list()).items.map(
          (node) => `${node.name} ${node.state.base}+${[...node.state.flags].join('+')} ${node.reason}`,
        );
        const workers = (await stage.workers()).map((pod) => pod.metadata.name);
        return `${JSON.stringify({ nodes, workers })} ${await stage.conditionsOf('w')}`;
      },
    });
    assert.deepEqual((await slurm.nodes.list()).items, []);
    assert.deepEqual(await stage.workers(), []);
  });
});
