/** The server over sockets, on a simulated Slurm: who gets what, and what attacks get. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { startDashboard } from '../../testing/dashboard-stage.ts';

const script = '#!/bin/sh\nsleep 60\n';

test('a user logs in, sees nodes, submits a job, sees it wait, and cancels it', async () => {
  await using stage = await startDashboard({ simulator: { nodes: 'n[0-1]' } });
  const { path } = stage;
  const headers = await stage.login('alice');
  await until('nodes are listed', () => stage.feed.nodes.rows.size === 2);
  const nodes = await stage.ask('GET', `${path}/nodes`, { headers });
  assert.equal(nodes.body.rows.length, 2);
  const again = await stage.ask('GET', `${path}/nodes`, {
    headers: { ...headers, 'if-none-match': String(nodes.headers['etag']) },
  });
  assert.equal(again.status, 304);
  const held = await stage.post(`${path}/jobs`, { script, name: 'mine', hold: true }, headers);
  assert.equal(held.status, 200, held.text);
  assert.equal(held.body.user, 'alice');
  const listed = await until('the job is in the list', async () => {
    const { body } = await stage.ask('GET', `${path}/jobs?state=PENDING`, { headers });
    return body.rows.find(({ name }) => name === 'mine');
  });
  assert.equal(listed.user, 'alice');
  const one = await stage.ask('GET', `${path}/jobs/${held.body.id}`, { headers });
  assert.equal(one.body.job.name, 'mine');
  assert.deepEqual(one.body.place, { before: 0, pending: 1 });
  const cancelled = await stage.post(`${path}/jobs/cancel`, { ids: [String(held.body.id)] }, headers);
  assert.deepEqual(cancelled.body.results, [{ id: String(held.body.id), done: true, message: '' }]);
  assert.deepEqual(
    stage.audited.map(({ user, action, status }) => `${user} ${action} ${status}`),
    ['alice jobs 200', 'alice jobs/cancel 200'],
  );
  assert.ok(!JSON.stringify(stage.audited).includes('sleep'), 'no script in the audit');
});

test('who may not list all jobs sees their own, also by number and in counts', async () => {
  await using stage = await startDashboard({ grants: { bob: ['see'], boss: ['see', 'seeAllJobs'] } });
  const { cluster } = stage.simulator;
  const job = cluster.createJob({ name: 'secret-project', user: 'alice', held: true });
  cluster.createJob({ name: 'own', user: 'bob', held: true });
  await until('both jobs are listed', () => stage.feed.jobs.rows.size === 2);
  const bob = await stage.login('bob');
  const list = await stage.ask('GET', `${stage.path}/jobs`, { headers: bob });
  assert.deepEqual(
    list.body.rows.map(({ name }) => name),
    ['own'],
  );
  assert.deepEqual([list.body.total, list.body.onlyOwn], [1, true]);
  const other = await stage.ask('GET', `${stage.path}/jobs/${job.id}`, { headers: bob });
  const missing = await stage.ask('GET', `${stage.path}/jobs/4711`, { headers: bob });
  assert.equal(other.status, 404);
  assert.equal(
    other.text.replaceAll(String(job.id), 'N'),
    missing.text.replaceAll('4711', 'N'),
    'the same words',
  );
  const boss = await stage.login('boss');
  assert.equal((await stage.ask('GET', `${stage.path}/jobs`, { headers: boss })).body.total, 2);
  const robot = await stage.login('robot');
  assert.equal((await stage.ask('GET', `${stage.path}/jobs`, { headers: robot })).status, 403);
});

test('rights are checked before anything else, for every write', async () => {
  await using stage = await startDashboard({ grants: { bob: ['see'] } });
  const bob = await stage.login('bob');
  for (const [target, body] of [
    ['jobs', { script }],
    ['jobs/cancel', { ids: ['1'] }],
    ['jobs/hold', { ids: ['1'] }],
    ['nodes/drain', { nodes: ['n0'], reason: 'x' }],
    ['nodes/resume', { nodes: ['n0'] }],
  ] as const) {
    const { status, body: said } = await stage.post(`${stage.path}/${target}`, body, bob);
    assert.equal(status, 403, target);
    assert.match(said.message, /bob may not do this in cluster slurm/);
  }
  const elsewhere = await stage.post(
    '/api/clusters/other/slurm/jobs',
    { script },
    await stage.login('alice'),
  );
  assert.equal(elsewhere.status, 404);
});

test('a drain names the person, and never poses as the operator', async () => {
  await using stage = await startDashboard({ grants: { admin: ['see', 'changeNodes'] } });
  const admin = await stage.login('admin');
  const drained = await stage.post(
    `${stage.path}/nodes/drain`,
    { nodes: ['n1', 'n99'], reason: 'fan' },
    admin,
  );
  assert.deepEqual(
    drained.body.results.map(({ id, done }) => [id, done]),
    [
      ['n1', true],
      ['n99', false],
    ],
  );
  assert.equal(stage.simulator.cluster.node('n1').reason, 'fan (admin)');
  await until('the table shows it', () => stage.feed.nodes.rows.get('n1')?.use === 'drained');
  // Slurm gets a reason without the blanks around it.
  for (const reason of ['slurm-operator: scale-in', ' slurm-operator: scale-in']) {
    const posing = await stage.post(`${stage.path}/nodes/drain`, { nodes: ['n2'], reason }, admin);
    assert.equal(posing.status, 400);
  }
  const blank = await stage.post(`${stage.path}/nodes/drain`, { nodes: ['n2'], reason: ' ' }, admin);
  assert.equal(blank.status, 400);
  const resumed = await stage.post(`${stage.path}/nodes/resume`, { nodes: ['n1'] }, admin);
  assert.equal(resumed.body.results[0]?.done, true);
});

test('bad input is named by field, and nothing is sent to Slurm', async () => {
  await using stage = await startDashboard();
  const alice = await stage.login('alice');
  const from = stage.simulator.requests.filter(({ method }) => method === 'POST').length;
  for (const [field, body] of [
    ['script', {}],
    ['script', { script: 'echo no interpreter' }],
    ['name', { script, name: 'a\nb' }],
    ['partition', { script, partition: 'x; rm -rf /' }],
    ['nodes', { script, nodes: -1 }],
    ['timeLimit', { script, timeLimit: 'tomorrow' }],
    ['directory', { script, directory: 'relative' }],
  ] as const) {
    const { status, body: said } = await stage.post(`${stage.path}/jobs`, body, alice);
    assert.deepEqual([status, said.field], [400, field]);
  }
  assert.equal(stage.simulator.requests.filter(({ method }) => method === 'POST').length, from);
});

test('attacks', async (t) => {
  await using stage = await startDashboard();
  const { path, origin } = stage;
  const alice = await stage.login('alice');
  const json = { 'content-type': 'application/json' };
  const cases: readonly (readonly [string, () => Promise<{ status: number; text: string }>, number])[] = [
    ['no cookie', () => stage.ask('GET', `${path}/jobs`), 401],
    [
      'a made-up cookie',
      () => stage.ask('GET', `${path}/jobs`, { headers: { cookie: `session=${'a'.repeat(43)}` } }),
      401,
    ],
    [
      'a form of another site',
      () =>
        stage.ask('POST', `${path}/jobs`, {
          headers: { ...alice, origin: 'https://evil.example.com', 'content-type': 'text/plain' },
          body: '{}',
        }),
      403,
    ],
    [
      'JSON of another site',
      () =>
        stage.ask('POST', `${path}/jobs`, {
          headers: { ...alice, ...json, origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' },
          body: { script },
        }),
      403,
    ],
    [
      'a write without origin',
      () => stage.ask('POST', `${path}/jobs`, { headers: { ...alice, ...json }, body: { script } }),
      403,
    ],
    [
      'a login of another site',
      () =>
        stage.ask('POST', '/api/login', {
          headers: { ...json, origin: 'https://evil.example.com' },
          body: { token: 'token-of-mallory' },
        }),
      403,
    ],
    [
      'headers of a proxy that is not configured',
      () =>
        stage.ask('GET', '/api/me', {
          headers: { 'x-forwarded-user': 'alice', 'x-forwarded-groups': 'system:masters' },
        }),
      401,
    ],
    ['a token in the address', () => stage.ask('GET', '/api/me?token=token-of-alice', {}), 401],
    [
      'a bearer token instead of a login',
      () => stage.ask('GET', '/api/me', { headers: { authorization: 'Bearer token-of-alice' } }),
      401,
    ],
    ['out of the folder', () => stage.ask('GET', '/../../../etc/passwd.html'), 404],
    ['out of the folder, encoded', () => stage.ask('GET', '/%2e%2e%2f%2e%2e%2fetc/passwd.js'), 404],
    [
      'another namespace by a path',
      () => stage.ask('GET', '/api/clusters/slurm%2f..%2fkube-system/slurm/nodes', { headers: alice }),
      404,
    ],
    [
      'a body of 2 MB',
      () => stage.post(`${path}/jobs`, { script: `#!/bin/sh\n${'x'.repeat(2_000_000)}` }, alice),
      413,
    ],
    ['a body that is no JSON', () => stage.post(`${path}/jobs`, '{"script":', alice), 400],
    ['a list as body', () => stage.post(`${path}/jobs`, [], alice), 400],
    [
      '200 jobs and one',
      () => stage.post(`${path}/jobs/cancel`, { ids: Array.from({ length: 201 }, () => '1') }, alice),
      400,
    ],
    ['a path as job number', () => stage.post(`${path}/jobs/cancel`, { ids: ['1/../../nodes'] }, alice), 400],
    ['DELETE', () => stage.ask('DELETE', `${path}/jobs`, { headers: { ...alice, origin } }), 405],
  ];
  for (const [what, attempt, wanted] of cases) {
    const { status, text } = await attempt();
    t.diagnostic(`${what.padEnd(44)} ${status}`);
    assert.equal(status, wanted, `${what}: ${text}`);
    assert.ok(!/token-of|at .*\.ts:/.test(text), `${what} shows neither tokens nor traces`);
  }
  assert.deepEqual(stage.errors, []);
});

test('after a logout a stolen cookie is worth nothing, and the stream ends', async () => {
  await using stage = await startDashboard();
  const alice = await stage.login('alice');
  const [stream] = (await once(
    get({ host: '127.0.0.1', port: stage.port, path: `${stage.path}/stream`, headers: alice }),
    'response',
  )) as [IncomingMessage];
  assert.equal(stream.statusCode, 200);
  const ended = once(stream.resume(), 'end');
  assert.equal((await stage.post('/api/logout', {}, alice)).status, 200);
  await ended;
  assert.equal((await stage.ask('GET', '/api/me', { headers: alice })).status, 401);
});

test('the stream brings deltas that continue from the snapshot', async () => {
  await using stage = await startDashboard();
  const alice = await stage.login('alice');
  await until('nodes are listed', () => stage.feed.nodes.rows.size === 10);
  const [stream] = (await once(
    get({ host: '127.0.0.1', port: stage.port, path: `${stage.path}/stream`, headers: alice }),
    'response',
  )) as [IncomingMessage];
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text += chunk;
  });
  await until('hello', () => text.includes('event: hello'));
  const { body } = await stage.ask('GET', `${stage.path}/nodes`, { headers: alice });
  await stage.simulator.client().nodes.drain('n3', 'test: disk');
  const delta = await until('a delta', () => /event: nodes\ndata: (.*)/.exec(text)?.[1]);
  const { from, set } = JSON.parse(delta) as { from: number; set: { key: string; reason: string }[] };
  assert.equal(from, body.version);
  assert.ok(set.some(({ key, reason }) => key === 'n3' && reason === 'test: disk'));
  stream.destroy();
});

test('ten wrong tokens from one address, and it waits; twenty writes in a minute, and the user waits', async () => {
  await using stage = await startDashboard();
  const alice = await stage.login('alice');
  for (let attempt = 0; attempt < 10; attempt += 1)
    assert.equal((await stage.post('/api/login', { token: `guess-${attempt}` })).status, 401);
  assert.equal((await stage.post('/api/login', { token: 'token-of-alice' })).status, 429);
  const statuses: number[] = [];
  for (let write = 0; write < 22; write += 1)
    statuses.push((await stage.post(`${stage.path}/jobs/cancel`, { ids: ['999'] }, alice)).status);
  assert.deepEqual([statuses[0], statuses[19], statuses[20]], [200, 200, 429]);
});

test('a proxy counts only with its secret, and never names accounts of Kubernetes', async () => {
  const secret = 's'.repeat(40);
  const proxy = {
    secretHeader: 'x-proxy-secret',
    secret,
    userHeader: 'x-forwarded-user',
    groupsHeader: 'x-forwarded-groups',
  };
  await using stage = await startDashboard({ proxy });
  const me = (headers: Record<string, string>) => stage.ask('GET', '/api/me', { headers });
  const good = await me({
    'x-proxy-secret': secret,
    'x-forwarded-user': 'alice',
    'x-forwarded-groups': 'hpc,system:masters',
  });
  assert.deepEqual(
    [good.status, good.body.user, good.body.groups],
    [200, 'alice', ['hpc', 'system:authenticated']],
  );
  assert.equal((await me({ 'x-proxy-secret': 'wrong', 'x-forwarded-user': 'alice' })).status, 401);
  assert.equal((await me({ 'x-forwarded-user': 'alice' })).status, 401);
  assert.equal((await me({ 'x-proxy-secret': secret, 'x-forwarded-user': 'system:admin' })).status, 401);
  assert.equal((await me({ 'x-proxy-secret': secret })).status, 401);
});

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

test('steps and the end of a job come from accounting; its script is for its owner alone', async () => {
  await using stage = await startDashboard({ grants: { bob: ['see'], boss: ['see', 'seeAllJobs'] } });
  const { cluster } = stage.simulator;
  const job = cluster.runJob(['n1'], { name: 'mine', user: 'alice', durationMs: 86_400_000 });
  const record = async (user: string, id: number | string = job) => {
    const path = `${stage.path}/jobs/${id}/record`;
    const { status, text } = await stage.ask('GET', path, { headers: await stage.login(user) });
    return { status, body: JSON.parse(text) as { record: { user: string; steps: object[] } | null } };
  };
  const own = await record('alice');
  assert.equal(own.body.record?.user, 'alice');
  assert.ok((own.body.record?.steps.length ?? 0) > 0);
  assert.equal((await record('boss')).body.record?.user, 'alice');
  assert.equal((await record('bob')).body.record, null, 'as one that does not exist');
  assert.deepEqual((await record('bob')).body, (await record('bob', 4711)).body);
  assert.equal((await record('alice', '1%2F..')).status, 404);
  assert.equal((await record('alice', 'x')).status, 400);
});

test('templates are for those who may submit', async () => {
  const template = { name: 'mpi', description: 'Two nodes', script: '#!/bin/sh\n#SBATCH -N2\n' };
  await using stage = await startDashboard({
    grants: { bob: ['see'] },
    jobTemplates: () => Promise.resolve([template]),
  });
  const read = async (user: string) =>
    stage.ask('GET', `${stage.path}/templates`, { headers: await stage.login(user) });
  assert.deepEqual(JSON.parse((await read('alice')).text), { templates: [template] });
  assert.equal((await read('bob')).status, 403);
});

test('a job that could never start is refused with its field, unless the user says so', async () => {
  await using stage = await startDashboard();
  const alice = await stage.login('alice');
  await until('nodes are listed', () => stage.feed.nodes.rows.size === 10);
  const body = { script, cpusPerTask: '4096', name: 'huge' };
  const refused = await stage.post(`${stage.path}/jobs`, body, alice);
  assert.deepEqual([refused.status, refused.body.field], [409, 'cpusPerTask']);
  assert.equal(stage.simulator.cluster.jobs.size, 0);
  const sent = await stage.post(`${stage.path}/jobs`, { ...body, unchecked: true }, alice);
  assert.equal(sent.status, 200, sent.text);
});

test('the limit of an own job can be changed, and only to a limit', async () => {
  await using stage = await startDashboard();
  const alice = await stage.login('alice');
  const { id } = stage.simulator.cluster.createJob({ name: 'own', user: 'alice', held: true });
  const limit = (timeLimit: unknown) =>
    stage.post(`${stage.path}/jobs/limit`, { ids: [String(id)], timeLimit }, alice);
  assert.equal((await limit('01:30:00')).body.results[0]?.done, true);
  assert.equal(stage.simulator.cluster.jobs.get(id)?.timeLimit, 90);
  for (const wrong of ['tomorrow', '', 90, undefined]) assert.equal((await limit(wrong)).status, 400);
});
