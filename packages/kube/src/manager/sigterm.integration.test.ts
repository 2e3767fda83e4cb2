/** A real process and a real SIGTERM: queued work is finished, the lease is released, the exit code is 0. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startApiServer } from '@slurm-operator/apiserver';
import {
  configMaps,
  createClient,
  createManager,
  kubeconfigConfig,
  leases,
  shutdownSignal,
} from '../index.ts';

const LEASE = { namespace: 'default', name: 'worker' };
const JOBS = ['j1', 'j2', 'j3', 'j4', 'j5'];

/**
 * The program: one worker. It sends itself these signals when it starts with the first of its ConfigMaps, because
 * no other process can time that.
 */
async function work(kubeconfig: string, signals: readonly string[]): Promise<void> {
  let isFirst = true;
  const manager = await createManager({
    name: 'worker',
    config: await kubeconfigConfig({ text: kubeconfig }),
    client: { rateLimit: false },
    leaderElection: LEASE,
  });
  manager
    .controller('jobs')
    .for(configMaps)
    .reconcile(async ({ namespace, name }) => {
      const job = manager.cache.get(configMaps, { namespace, name });
      if (job?.data?.['kind'] === undefined) return;
      if (isFirst) for (const signal of signals) process.kill(process.pid, signal);
      isFirst = false;
      // Time for the signals to arrive, and in one case a reconcile that never ends.
      await new Promise((resolve) => setTimeout(resolve, job.data?.['kind'] === 'endless' ? 60_000 : 20));
      await manager.client.mergePatch(configMaps, job.metadata, { data: { kind: 'done' } });
    });
  await manager.start(shutdownSignal());
}

const { WORKER_KUBECONFIG: given, WORKER_SIGNALS: signals = '' } = process.env;
if (given !== undefined) {
  await work(given, signals.split(' '));
  process.exit(0);
}

/** Runs the program to its end. */
async function run(t: TestContext, jobs: readonly string[], kind: string, sent: string) {
  const server = await startApiServer();
  const user = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { rateLimit: false });
  for (const name of jobs)
    await user.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name },
      data: { kind },
    });
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    env: { ...env, WORKER_KUBECONFIG: server.kubeconfig(), WORKER_SIGNALS: sent },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  t.after(async () => {
    child.kill('SIGKILL');
    user.close();
    await server.stop();
  });
  const exit = (await once(child, 'exit', { signal: AbortSignal.timeout(120_000) })) as unknown[];
  const { items } = await user.list(configMaps, { namespace: 'default' });
  const lease = await user.get(leases, LEASE);
  return {
    exit,
    states: items.flatMap(({ data }) => data?.['kind'] ?? []),
    holder: lease.spec?.holderIdentity,
  };
}

test('SIGTERM: finishes the queue, releases the lease, exits with 0', async (t) => {
  const { exit, states, holder } = await run(t, JOBS, 'short', 'SIGTERM');
  assert.deepEqual(exit, [0, null]);
  assert.deepEqual(
    states,
    JOBS.map(() => 'done'),
  );
  assert.equal(holder, '');
});

test('a second signal ends the program at once', async (t) => {
  const { exit, states } = await run(t, ['j1'], 'endless', 'SIGTERM SIGINT');
  assert.deepEqual(exit, [1, null]);
  assert.deepEqual(states, ['endless']);
});
