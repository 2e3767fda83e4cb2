/** The server over sockets, on a simulated Slurm: who gets what, and what attacks get. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
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
  // A proxy that adds its header to the one of the browser: Node joins them.
  assert.equal((await me({ 'x-proxy-secret': secret, 'x-forwarded-user': 'bob, alice' })).status, 401);
});
