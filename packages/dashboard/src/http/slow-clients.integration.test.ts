/** Clients that read or write slowly, or too much, and streams that outlive what they show. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { startDashboard } from '../../testing/dashboard-stage.ts';

/** The text of a stream so far. */
async function openStream(
  stage: Awaited<ReturnType<typeof startDashboard>>,
  headers: Record<string, string>,
) {
  const [stream] = (await once(
    get({ host: '127.0.0.1', port: stage.port, path: `${stage.path}/stream`, headers }),
    'response',
  )) as [IncomingMessage];
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return { stream, text: () => text };
}

test('a cluster that was deleted and created again: its streams end, and new ones follow the new one', async () => {
  await using stage = await startDashboard();
  const alice = await stage.login('alice');
  const { stream, text } = await openStream(stage, alice);
  await until('hello', () => text().includes('event: hello'));
  const ended = once(stream, 'end');
  const feed = await stage.replaceFeed();
  await ended;
  await until('nodes are listed', () => feed.nodes.rows.size === 10);
  const again = await openStream(stage, alice);
  await until('hello', () => again.text().includes('event: hello'));
  await stage.simulator.client().nodes.drain('n3', 'test: disk');
  await until('a delta of the new feed', () => /event: nodes.*\n.*test: disk/.test(again.text()));
  again.stream.destroy();
});

test('what a stream begins with can be asked for without one', async () => {
  await using stage = await startDashboard();
  await until('nodes are listed', () => stage.feed.nodes.rows.size === 10);
  const { status, text } = await stage.ask('GET', `${stage.path}/live`, {
    headers: await stage.login('alice'),
  });
  const live = JSON.parse(text) as { nodes: number; freshness: { now: number; nodes: { kind: string } } };
  assert.deepEqual([status, live.nodes, live.freshness.nodes.kind], [200, stage.feed.nodes.version, 'known']);
  assert.ok(Math.abs(Date.now() - live.freshness.now) < 60_000, 'with the time of the server');
  assert.equal((await stage.ask('GET', `${stage.path}/live`)).status, 401);
});

test('the connection of a browser that does not read its answer is closed', async (t) => {
  await using stage = await startDashboard({ idleTimeoutMs: 200, script: 'x'.repeat(32_000_000) });
  const accepted: Socket[] = [];
  const onSocket = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
  subscribe('net.server.socket', onSocket);
  t.after(() => unsubscribe('net.server.socket', onSocket));
  const slow = connect(stage.port, '127.0.0.1').pause();
  await once(slow, 'connect');
  slow.write('GET /main.js HTTP/1.1\r\nHost: dashboard\r\n\r\n');
  const there = await until('the server has it', () =>
    accepted.find((one) => one.remotePort === slow.localPort),
  );
  await once(there, 'close');
  assert.ok(there.bytesWritten > 0, 'it was answered');
  slow.destroy();
});

test('a body without a length is cut off at its limit', async () => {
  await using stage = await startDashboard();
  const alice = await stage.login('alice');
  const sent = request({
    host: '127.0.0.1',
    port: stage.port,
    method: 'POST',
    path: `${stage.path}/jobs`,
    headers: { ...alice, origin: stage.origin, 'content-type': 'application/json' },
  });
  const over = new Promise<number>((resolve) => {
    sent.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    sent.on('error', () => resolve(0));
  });
  let written = 0;
  const write = () => {
    while (written < 50 && !sent.destroyed) {
      written += 1;
      if (!sent.write('x'.repeat(1_000_000))) return;
    }
    sent.end();
  };
  sent.on('drain', write);
  write();
  assert.ok([0, 413].includes(await over));
  assert.ok(written < 50, `the server takes ${written} MB`);
  assert.deepEqual(stage.audited, []);
});
