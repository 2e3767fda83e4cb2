/** Facts of real Slurm that only daemons can show, and that the mini Slurm can be broken in every way a test may want. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SlurmError, Timeout } from '../src/errors.ts';
import { formatNodeState, isDrain } from '../src/meaning/node-state.ts';
import { eventually } from './contract/wire.ts';
import { startMiniSlurm } from './mini-slurm.ts';

test('two releases run side by side, each with its own daemons', async () => {
  await using one = await startMiniSlurm({ version: '26.05', nodes: 1 });
  await using two = await startMiniSlurm({ version: '24.11', nodes: 2 });
  const [first, second] = [one.client(), two.client()];
  assert.deepEqual([await first.apiVersion(), await second.apiVersion()], ['v0.0.45', 'v0.0.42']);
  await first.nodes.drain('n0', 'test: only here');
  assert.equal((await first.nodes.list()).items.length, 1);
  assert.ok((await second.nodes.list()).items.every((node) => !isDrain(node.state)));
});

for (const version of ['26.05', '24.11'] as const) {
  describe(`daemons of Slurm ${version}`, () => {
    test('a graceful end of slurmctld loses nothing: drain, reason, comment, extra and jobs are back after it', async () => {
      await using mini = await startMiniSlurm({ version, nodes: 2 });
      const client = mini.client();
      await client.nodes.update('n0', { comment: 'kept', extra: 'too' });
      await client.nodes.drain('n0', 'test: kept');
      const { id } = await client.jobs.submit({
        script: '#!/bin/sh\nsleep 60\n',
        requiredNodes: ['n1'],
        timeLimit: 5,
      });
      await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['RUNNING']));
      await mini.controller.restart(60_000);
      const fresh = mini.client();
      await eventually(async () => {
        const node = (await fresh.nodes.list().catch(stillDown))?.items.find(({ name }) => name === 'n0');
        assert.deepEqual([node?.comment, node?.extra, node?.reason], ['kept', 'too', 'test: kept']);
      });
      assert.deepEqual((await fresh.jobs.get(id))?.state, ['RUNNING']);
    });

    test('a slurmctld that hangs is a Timeout; after it resumes calls succeed', async () => {
      await using mini = await startMiniSlurm({ version, nodes: 1 });
      const client = mini.client();
      await client.nodes.list();
      await mini.controller.pause();
      await assert.rejects(client.nodes.list({ timeoutMs: 1000 }), Timeout);
      mini.controller.resume();
      await eventually(async () => assert.ok((await client.nodes.list().catch(stillDown)) !== undefined));
    });

    test('a slurmrestd that was killed is reached again at the same address', async () => {
      await using mini = await startMiniSlurm({ version, nodes: 1 });
      const client = mini.client({ circuit: { pauseMs: 100 } });
      await client.nodes.list();
      await mini.rest.kill();
      await assert.rejects(client.nodes.list({ timeoutMs: 3000 }), SlurmError);
      await mini.rest.start();
      await mini.rest.waitForPort(6820);
      await eventually(async () => assert.ok((await client.nodes.list().catch(stillDown)) !== undefined));
    });

    test('surprise: a reboot is over because slurmd says that it booted (-b), although the machine did not', async () => {
      await using mini = await startMiniSlurm({
        version,
        nodes: 1,
        configuration: ['RebootProgram=/bin/true'],
      });
      const client = mini.client();
      const node = async () => {
        const [found] = (await client.nodes.list()).items;
        assert.ok(found !== undefined);
        return found;
      };
      // Slurm counts boots in whole seconds. Ordered in the second of the node's last boot, it takes that one for the new
      // one, returns the node to service with REBOOT_ISSUED still set, and nothing ever takes that away.
      const { bootedAt = 0 } = await node();
      await eventually(() => assert.ok(Date.now() >= bootedAt + 1000));
      // Reboots are not in the REST API: the command it is.
      await mini.run('scontrol', 'reboot', 'ASAP', 'nextstate=RESUME', 'n0');
      await eventually(async () =>
        assert.match(formatNodeState((await node()).state), /^DOWN.*REBOOT_ISSUED/),
      );
      await mini.nodes.get('n0')?.restart(1000);
      await eventually(async () => assert.equal(formatNodeState((await node()).state), 'IDLE+DYNAMIC_NORM'));
    });

    test('a worker that is cut off keeps its job; its network comes back and so does it', async () => {
      await using mini = await startMiniSlurm({ version, nodes: 1 });
      const client = mini.client();
      const script = '#!/bin/sh\nuntil [ -e /tmp/enough ]; do sleep 0.1; done\n';
      const { id } = await client.jobs.submit({ script, timeLimit: 5 });
      await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['RUNNING']));
      const worker = mini.nodes.get('n0');
      await worker?.cutOff();
      await worker?.exec(['touch', '/tmp/enough']);
      assert.deepEqual(
        (await client.jobs.get(id))?.state,
        ['RUNNING'],
        'Slurm cannot know that it has ended',
      );
      await worker?.bringBack();
      await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['COMPLETED']));
    });
  });
}

test('surprise: kill -9 of slurmctld may forget the last seconds; what the client says afterwards is what Slurm says', async () => {
  await using mini = await startMiniSlurm({ version: '26.05', nodes: 1 });
  const client = mini.client({ circuit: { pauseMs: 100 } });
  const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 60\n', timeLimit: 5 });
  await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['RUNNING']));
  await mini.controller.kill();
  await mini.controller.start();
  await eventually(async () =>
    assert.ok((await client.nodes.list({ timeoutMs: 3000 }).catch(stillDown)) !== undefined),
  );
  const job = await client.jobs.get(id);
  const told = await mini.run('scontrol', 'show', 'job', String(id)).catch(() => '');
  assert.equal(job === undefined, !told.includes(`JobId=${id} `), 'both know it, or neither does');
});

test('surprise: 26.05 serves health and metrics on port 6817 without authentication', async () => {
  await using mini = await startMiniSlurm({ version: '26.05', nodes: 1 });
  const { port } = await mini.sandbox.forward({ address: mini.controller.address, port: 6817 });
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(30_000) });
  for (const path of ['/livez', '/readyz', '/healthz']) assert.ok((await ask(path)).ok, path);
  const metrics = await (await ask('/metrics/nodes')).text();
  assert.match(metrics, /slurm_nodes/);
  // Called bytes, and megabytes: the node has 4,000 of them.
  assert.match(metrics, /^slurm_node_memory_bytes\{node="n0"\} 4000$/m);
});

test('a MariaDB that hangs costs accounting alone, and all comes back with it', async () => {
  await using mini = await startMiniSlurm({ version: '26.05', nodes: 1, accounting: true });
  const client = mini.client();
  assert.equal((await client.accounting.clusters())[0]?.name, 'mini');
  await mini.database.pause();
  await assert.rejects(client.accounting.clusters({ timeoutMs: 1000 }), Timeout);
  assert.equal((await client.nodes.list()).items.length, 1);
  mini.database.resume();
  await eventually(async () =>
    assert.equal((await client.accounting.clusters().catch(stillDown))?.[0]?.name, 'mini'),
  );
});

test('surprise: power saving also suspends dynamic nodes', async () => {
  const configuration = [
    'SuspendProgram=/bin/true',
    'ResumeProgram=/bin/true',
    'SuspendTime=1',
    'SuspendRate=0',
  ];
  await using mini = await startMiniSlurm({ version: '26.05', nodes: 1, configuration });
  const client = mini.client();
  await eventually(async () => {
    const [node] = (await client.nodes.list()).items;
    assert.match(node === undefined ? '' : formatNodeState(node.state), /POWER(ING|ED)_DOWN|POWER_DOWN/);
  }, 120_000);
});

/** While a daemon comes back, errors of the client are expected; anything else is not. */
function stillDown(error: unknown): undefined {
  if (!(error instanceof SlurmError)) throw error;
  return undefined;
}
