/**
 * Two real processes compete for a lease while the leader is suspended in the middle of its work (SIGSTOP). After it
 * resumes it must not write: none of its writes may come after the first write of the next leader.
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

/** The program of a contender: writes its name as long as it is the leader, and suspends itself after some writes. */
async function contend(identity: string, kubeconfig: string, stopAfter: number): Promise<void> {
  const manager = await createManager({
    name: identity,
    config: await kubeconfigConfig({ text: kubeconfig }),
    client: { rateLimit: false },
    leaderElection: {
      namespace: 'default',
      name: 'contended',
      identity,
      leaseDuration: 4_000,
      renewDeadline: 2_500,
      retryPeriod: 300,
    },
  });
  manager.add({
    name: 'writer',
    async run(signal) {
      for (let n = 0; !signal.aborted; n += 1) {
        // Suspends itself between two writes, so that its first action on resuming is a write: no other process can time that.
        if (n === stopAfter) process.kill(process.pid, 'SIGSTOP');
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
  const { CONTENDER_KUBECONFIG: kubeconfig = '', CONTENDER_STOP_AFTER: stopAfter } = process.env;
  await contend(role, kubeconfig, Number(stopAfter)).catch(() => process.exit(7));
  process.exit(0);
}

test('a suspended leader does not write after it resumes', { timeout: 240_000 }, async (t) => {
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

  const start = (identity: string, stopAfter: number) => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
      env: {
        ...env,
        CONTENDER: identity,
        CONTENDER_KUBECONFIG: server.kubeconfig(),
        CONTENDER_STOP_AFTER: String(stopAfter),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  };
  const wrote = async (identity: string, times: number) => {
    const deadline = performance.now() + 60_000;
    while (writers.filter((writer) => writer === identity).length < times) {
      assert.ok(performance.now() < deadline, `${identity} never wrote`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  let leader = { identity: 'r0', child: start('r0', 3) };
  for (const round of [1, 2, 3]) {
    await wrote(leader.identity, 1);
    const next = { identity: `r${round}`, child: start(`r${round}`, round === 3 ? Infinity : 3 + round) };
    let said = '';
    leader.child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await wrote(next.identity, 1);
    // Closed, not only exited: then all of its output has been read.
    const closed = once(leader.child, 'close');
    leader.child.kill('SIGCONT');
    assert.deepEqual(await closed, [7, null], 'the one that woke found that it had lost, and ended');
    assert.match(said, /held back/, 'it did try to write');
    leader = next;
  }
  await wrote('r3', 5);
  stop.abort();
  await watching;
  const terms = writers.filter((writer, at) => writer !== writers[at - 1]);
  assert.deepEqual(
    terms,
    ['r0', 'r1', 'r2', 'r3'],
    'each wrote in one piece, and none after its successor began',
  );
});
