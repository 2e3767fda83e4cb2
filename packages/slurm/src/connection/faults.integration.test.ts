/** What the client makes of a slurmrestd that misbehaves. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { startSimulator } from '../../testing/simulator/simulator.ts';
import { SlurmClient } from '../client.ts';
import { InvalidInput, NotSupported, ProtocolError, Timeout, Unavailable } from '../errors.ts';
import { staticToken } from '../tokens/token-provider.ts';

describe('a slurmrestd that', () => {
  test('refuses connections is Unavailable, and is used again when it is back', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-2]' });
    const client = simulator.client({ circuit: { threshold: 100 } });
    assert.equal((await client.nodes.list()).items.length, 3);
    await simulator.refuse();
    await assert.rejects(client.nodes.list(), Unavailable);
    await assert.rejects(client.nodes.drain('n0', 'test: x'), Unavailable);
    await simulator.listen();
    assert.equal((await client.nodes.list()).items.length, 3);
  });

  test('accepts and never responds is a Timeout at the deadline', async () => {
    await using simulator = await startSimulator({ nodes: 'n0' });
    const client = simulator.client();
    await client.apiVersion();
    simulator.faults.halfOpen = true;
    await assert.rejects(
      client.nodes.list({ timeoutMs: 100 }),
      (error) => error instanceof Timeout && /0\.1 s/.test(error.message),
    );
    await assert.rejects(client.nodes.drain('n0', 'test: x', { timeoutMs: 100 }), Timeout);
  });

  test('is slow beyond the deadline is a Timeout; within it, it is waited for', async () => {
    await using simulator = await startSimulator({ nodes: 'n0' });
    const client = simulator.client();
    await client.apiVersion();
    simulator.faults.slowMs = 150;
    assert.equal((await client.nodes.list()).items.length, 1);
    simulator.faults.slowMs = 5000;
    await assert.rejects(client.nodes.list({ timeoutMs: 50 }), Timeout);
  });

  test('truncates its responses is Unavailable: half a list is not a list', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-200]' });
    const client = simulator.client();
    await client.apiVersion();
    simulator.faults.truncate = true;
    await assert.rejects(client.nodes.list(), Unavailable);
    await assert.rejects(client.jobs.states(), Unavailable);
  });

  test('responds with something other than JSON is a ProtocolError, never an empty list', async () => {
    await using simulator = await startSimulator({ nodes: 'n0' });
    const client = simulator.client();
    await client.apiVersion();
    simulator.faults.garbage = true;
    for (const call of [
      () => client.nodes.list(),
      () => client.nodes.get('n0'),
      () => client.jobs.list(),
      () => client.jobs.get(1),
      () => client.nodes.drain('n0', 'test: x'),
    ])
      await assert.rejects(call, ProtocolError);
  });
});

/** A server that answers each path with what the test says. */
async function fake(answers: Readonly<Record<string, { status?: number; type?: string; body: string }>>) {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const {
      status = 200,
      type = 'application/json',
      body,
    } = answers[`${request.method} ${path}`] ?? {
      status: 404,
      type: 'text/plain',
      body: 'no such path',
    };
    response.writeHead(status, { 'Content-Type': type });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const ping = { body: '{"pings":[],"errors":[],"warnings":[]}' };

describe('responses that are JSON but invalid', () => {
  const token = staticToken('secret-token-of-mine');
  const cases: readonly { reason: string; body: string }[] = [
    { reason: 'no list at all', body: '{"errors":[],"warnings":[]}' },
    { reason: 'a list that is an object', body: '{"nodes":{},"errors":[]}' },
    { reason: 'a node without a name', body: '{"nodes":[{"state":["IDLE"]}],"errors":[]}' },
    { reason: 'a node without a state', body: '{"nodes":[{"name":"n0"}],"errors":[]}' },
    { reason: 'a state that is a string', body: '{"nodes":[{"name":"n0","state":"IDLE"}],"errors":[]}' },
    { reason: 'broken inside an element', body: '{"nodes":[{"name":"n0","state":["IDLE"],}],"errors":[]}' },
    { reason: 'broken after the list', body: '{"nodes":[{"name":"n0","state":["IDLE"]}],"errors":[' },
    { reason: 'nothing', body: '' },
    { reason: 'an array', body: '[]' },
  ];
  for (const { reason, body } of cases) {
    test(reason, async () => {
      await using server = await fake({
        'GET /slurm/v0.0.45/ping/': ping,
        'GET /slurm/v0.0.45/nodes/': { body },
      });
      using client = new SlurmClient({ server: server.server, token });
      await assert.rejects(client.nodes.list(), ProtocolError);
    });
  }

  test('an empty response for one node is an error, not "no such node"', async () => {
    await using server = await fake({
      'GET /slurm/v0.0.45/ping/': ping,
      'GET /slurm/v0.0.45/node/n0': { body: '{"errors":[],"warnings":[]}' },
    });
    using client = new SlurmClient({ server: server.server, token });
    await assert.rejects(client.nodes.get('n0'), ProtocolError);
  });

  test('404 with or without JSON, 204 and an empty 200 to a drain mean that it is done', async () => {
    const answers = {
      'GET /slurm/v0.0.45/ping/': ping,
      'POST /slurm/v0.0.45/node/gone': {
        status: 404,
        body: '{"errors":[{"error_number":9,"error":"gone"}]}',
      },
      'POST /slurm/v0.0.45/node/silent': { status: 204, body: '' },
      'POST /slurm/v0.0.45/node/empty': { status: 200, body: '' },
    };
    await using server = await fake(answers);
    using client = new SlurmClient({ server: server.server, token });
    assert.equal((await client.nodes.drain('gone', 'test: x')).outcome, 'gone');
    assert.equal((await client.nodes.delete('wordless')).outcome, 'gone');
    using elsewhere = new SlurmClient({ server: server.server, token, apiVersion: 'v0.0.43' });
    await assert.rejects(
      elsewhere.nodes.drain('gone', 'test: x'),
      NotSupported,
      'the version is wrong, not the node',
    );
    assert.equal((await client.nodes.undrain('silent')).outcome, 'accepted');
    assert.equal((await client.nodes.update('empty', { comment: 'x' })).outcome, 'accepted');
  });

  test('an error of a proxy is Unavailable', async () => {
    await using server = await fake({
      'GET /slurm/v0.0.45/ping/': ping,
      'GET /slurm/v0.0.45/nodes/': { status: 503, type: 'text/html', body: '<html>' },
    });
    using client = new SlurmClient({ server: server.server, token });
    await assert.rejects(client.nodes.list(), Unavailable);
  });

  test('a server that is not slurmrestd is NotSupported', async () => {
    await using server = await fake({});
    using client = new SlurmClient({ server: server.server, token });
    await assert.rejects(
      client.nodes.list(),
      (error) => error instanceof NotSupported && /is it slurmrestd/.test(error.message),
    );
  });

  test('the size of a response is limited', async () => {
    const body = `{"nodes":[],"padding":"${'x'.repeat(100_000)}"}`;
    await using server = await fake({
      'GET /slurm/v0.0.45/ping/': ping,
      'GET /slurm/v0.0.45/nodes/': { body },
    });
    using client = new SlurmClient({ server: server.server, token, maxAnswerBytes: 50_000 });
    await assert.rejects(
      client.nodes.list(),
      (error) => error instanceof ProtocolError && /50000/.test(error.message),
    );
  });

  test('a call may have a larger limit than its client', async () => {
    await using simulator = await startSimulator({ nodes: 'n0' });
    for (let index = 0; index < 20; index += 1) simulator.cluster.createJob({ held: true });
    using client = simulator.client({ maxAnswerBytes: 50_000 });
    await assert.rejects(client.jobs.list(), ProtocolError);
    assert.equal((await client.jobs.list({ maxAnswerBytes: 10_000_000 })).items.length, 20);
  });

  test('neither a client nor its errors show the token', async () => {
    await using server = await fake({
      'GET /slurm/v0.0.45/ping/': { status: 500, type: 'text/plain', body: 'x' },
    });
    using client = new SlurmClient({ server: server.server, token });
    const error: unknown = await client.nodes.list().catch((caught: unknown) => caught);
    for (const value of [client, error])
      assert.ok(!inspect(value, { depth: 12, showHidden: true }).includes('secret-token-of-mine'));
  });
});

describe('the version', () => {
  test('is negotiated once for concurrent callers, and again when the server was replaced', async () => {
    await using simulator = await startSimulator({ nodes: 'n0', release: '26.05' });
    const client = simulator.client();
    await Promise.all([client.nodes.list(), client.jobs.states(), client.apiVersion()]);
    assert.equal(simulator.requests.filter(({ path }) => path.startsWith('slurm/ping')).length, 1);
    assert.equal(await client.apiVersion(), 'v0.0.45');

    await using older = await startSimulator({ nodes: 'n0', release: '24.11' });
    let server = simulator.server;
    const hand = async (request: IncomingMessage, response: ServerResponse) => {
      const answer = await fetch(`${server}${request.url}`, {
        headers: { 'x-slurm-user-token': older.token() },
      });
      response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' });
      response.end(await answer.text());
    };
    const proxy = createServer((request, response) => void hand(request, response));
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    try {
      using moved = new SlurmClient({
        server: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
        token: staticToken(older.token()),
      });
      assert.equal((await moved.nodes.list()).items.length, 1);
      assert.equal(await moved.apiVersion(), 'v0.0.45');
      ({ server } = older);
      assert.equal((await moved.nodes.list()).items.length, 1, 'negotiated again automatically');
      assert.equal(await moved.apiVersion(), 'v0.0.42');
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  test('can be pinned', async () => {
    await using simulator = await startSimulator({ nodes: 'n0' });
    const client = simulator.client({ apiVersion: 'v0.0.43' });
    await client.nodes.list();
    assert.equal(await client.apiVersion(), 'v0.0.43');
    assert.ok(!simulator.requests.some(({ path }) => path.startsWith('slurm/ping')));
  });
});

describe('a caller', () => {
  test('can abort any call', async () => {
    await using simulator = await startSimulator({ nodes: 'n0' });
    const client = simulator.client();
    await client.apiVersion();
    simulator.faults.halfOpen = true;
    const stop = new AbortController();
    const call = client.nodes.list({ signal: stop.signal });
    stop.abort();
    await assert.rejects(call, (error) => error instanceof Unavailable && /aborted/.test(error.message));
    await assert.rejects(client.nodes.list({ signal: stop.signal }), Unavailable);
    assert.equal(client.circuit().state, 'closed');
  });

  test('that closed its client gets an error, not a wait', async () => {
    await using simulator = await startSimulator({ nodes: 'n0' });
    const client = simulator.client();
    await client.apiVersion();
    simulator.faults.halfOpen = true;
    const call = client.nodes.list();
    client.close();
    await assert.rejects(call, Unavailable);
    await assert.rejects(client.nodes.list(), Unavailable);
  });

  test('gets InvalidInput for invalid arguments', async () => {
    await using simulator = await startSimulator({ nodes: 'n0' });
    const client = simulator.client();
    for (const name of ['n[0-1]', 'a,b', '', '../x', 'n 0'])
      await assert.rejects(async () => client.nodes.get(name), InvalidInput);
    await assert.rejects(async () => client.nodes.drain('n0', ' \n'), InvalidInput);
    await assert.rejects(client.jobs.submit({ script: 'echo' }), InvalidInput);
    await assert.rejects(async () => client.jobs.signal(1, 'KILL; rm'), InvalidInput);
    await assert.rejects(client.nodes.create('CPUs=4\nNodeName=x'), InvalidInput);
    for (const server of ['nowhere', 'ftp://x', 'http://user:pass@x'])
      assert.throws(() => new SlurmClient({ server, token: staticToken('x') }), InvalidInput);
    assert.equal(simulator.requests.filter(({ method }) => method !== 'GET').length, 0);
  });

  test('of one cluster is not affected by the outage of another', async () => {
    await using healthy = await startSimulator({ nodes: 'n0' });
    await using sick = await startSimulator({ nodes: 'n0' });
    sick.faults.halfOpen = true;
    const giveUp = new AbortController();
    let ended = false;
    const stuck = sick.client().nodes.list({ signal: giveUp.signal });
    const failed = assert.rejects(
      stuck.finally(() => (ended = true)),
      Unavailable,
    );
    for (let turn = 0; turn < 20; turn += 1) await healthy.client().nodes.list();
    assert.equal(ended, false, 'the failing cluster still waits, and no other call waited for it');
    giveUp.abort();
    await failed;
  });
});

test('https: the given certificate is trusted, and nothing else is', async () => {
  await import('reflect-metadata'); // the library's own need; it must come first
  const x509 = await import('@peculiar/x509');
  const { subtle } = globalThis.crypto;
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=127.0.0.1',
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
  });
  const ca = certificate.toString('pem');
  const key = Buffer.from(await subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const server = createSecureServer(
    { cert: ca, key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n` },
    (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end('{"pings":[{"hostname":"slurmctl","responding":true,"primary":true}],"errors":[]}');
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const options = {
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: staticToken('x'),
  };
  try {
    using trusting = new SlurmClient({ ...options, ca });
    assert.equal((await trusting.controller.ping())[0]?.responding, true);
    using other = new SlurmClient(options);
    await assert.rejects(other.controller.ping(), Unavailable);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
