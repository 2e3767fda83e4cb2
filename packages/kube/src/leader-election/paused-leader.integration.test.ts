/**
 * Two real processes contend for a lease while the one that leads is stopped in the middle of its work (SIGSTOP). The one
 * that wakes must not write again: not one of its writes may come after the first of its successor.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startApiServer } from '@slurm-operator/apiserver';
import {
  type ConfigMap,
  configMaps,
  createClient,
  createManager,
  kubeconfigConfig,
  NotLeaderError,
} from '../index.ts';

const REF = { namespace: 'default', name: 'register' };

/** Milliseconds between two writes of a contender. */
const PACE = 100;

/** The program of a contender: writes its name again and again, as long as it may. */
async function contend(identity: string, kubeconfig: string): Promise<void> {
  const manager = await createManager({
    name: identity,
    config: await kubeconfigConfig({ text: kubeconfig }),
    client: { rateLimit: false },
    leaderElection: {
      namespace: 'default',
      name: 'contended',
      identity,
      leaseDuration: 2_000,
      renewDeadline: 1_200,
      retryPeriod: 200,
    },
  });
  manager.add({
    name: 'writer',
    async run(signal) {
      for (let n = 0; !signal.aborted; n += 1) {
        try {
          await manager.client.mergePatch(configMaps, REF, { data: { writer: identity, n: String(n) } });
        } catch (error) {
          if (!(error instanceof NotLeaderError)) throw error;
          process.stdout.write('held back\n');
        }
        await new Promise((resolve) => setTimeout(resolve, PACE));
      }
    },
  });
  await manager.start(new AbortController().signal);
}

const role = process.env['CONTENDER'];
if (role !== undefined) {
  await contend(role, process.env['CONTENDER_KUBECONFIG'] ?? '').catch(() => process.exit(7));
  process.exit(0);
}

test('a leader that was stopped does not write after it wakes', { timeout: 120_000 }, async (t) => {
  const server = await startApiServer();
  const user = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { rateLimit: false });
  const children: ChildProcess[] = [];
  const stop = new AbortController();
  t.after(async () => {
    for (const child of children) child.kill('SIGKILL');
    stop.abort();
    user.close();
    await server.stop();
  });
  const empty: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: REF };
  const created = await user.create(configMaps, empty);
  const writers: string[] = [];
  const watching = user
    .watch(
      configMaps,
      { namespace: 'default', resourceVersion: created.metadata.resourceVersion, signal: stop.signal },
      (event) => {
        const writer = event.object.data?.['writer'];
        if (writer !== undefined) writers.push(writer);
      },
    )
    .catch(() => undefined);

  const start = (identity: string) => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
      env: { ...env, CONTENDER: identity, CONTENDER_KUBECONFIG: server.kubeconfig() },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  };
  const wrote = async (identity: string, times: number) => {
    const deadline = performance.now() + 30_000;
    while (writers.filter((writer) => writer === identity).length < times) {
      assert.ok(performance.now() < deadline, `${identity} never wrote`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  let leader = { identity: 'r0', child: start('r0') };
  await wrote('r0', 3);
  for (const round of [1, 2, 3]) {
    const next = { identity: `r${round}`, child: start(`r${round}`) };
    // Stopped while it waits for its next turn: its first act on waking is to write.
    let said = '';
    leader.child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await wrote(leader.identity, writers.filter((writer) => writer === leader.identity).length + 1 + round);
    leader.child.kill('SIGSTOP');
    await wrote(next.identity, 5);
    const exited = once(leader.child, 'exit');
    leader.child.kill('SIGCONT');
    assert.deepEqual(await exited, [7, null], 'the one that woke found that it had lost, and ended');
    assert.match(said, /held back/, 'it did try to write');
    await wrote(next.identity, writers.filter((writer) => writer === next.identity).length + 5);
    leader = next;
  }
  stop.abort();
  await watching;
  const terms = writers.filter((writer, at) => writer !== writers[at - 1]);
  assert.deepEqual(
    terms,
    ['r0', 'r1', 'r2', 'r3'],
    'each wrote in one piece, and none after its successor began',
  );
});
