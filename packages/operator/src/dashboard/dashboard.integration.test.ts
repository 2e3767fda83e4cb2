/**
 * The dashboard program beside a real manager on an embedded API server, with a simulated Slurm: it has exactly its own rights, logs people
 * in with their tokens, and acts as them.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { label } from '@slurm-operator/api';
import { configMaps } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import {
  dashboardBase as base,
  DashboardWorld,
  dashboardAccount,
  dashboardRules,
  people,
} from '../../testing/dashboard-world.ts';
import { granted, refusals, used } from '../../testing/restricted-config.ts';
import { dashboardExchangeRules } from '../rbac/rules.ts';

let stage: DashboardWorld;
const logged: string[] = [];

before(async () => {
  keepLogLines();
  stage = await DashboardWorld.start({
    userPrefix: `system:serviceaccount:${people}:`,
    rules: dashboardRules,
  });
  const jobs = ['list', 'create', 'update', 'delete'];
  await stage.bind('alice', [
    { resources: ['clusters', 'controllers'], verbs: ['get'] },
    { resources: ['clusters/jobs'], verbs: jobs },
  ]);
  await stage.bind('mallory', []);
});
after(async () => {
  await stage?.stopPrograms();
  const { server } = stage.world;
  const refused = refusals(server, dashboardAccount);
  const seen = new Set(used(server.audit.find(), dashboardAccount));
  const idle = [...granted([...dashboardRules, ...dashboardExchangeRules])].filter(
    (one) => !seen.has(one) && !(one.startsWith('list ') && seen.has(one.replace('list', 'watch'))),
  );
  await stage.stop();
  assert.deepEqual(refused, []);
  // Without streaming lists a watch begins with a list; the exchange asks whether the dashboard may have its token.
  assert.deepEqual(idle, ['create clusters/view.slinky.slurm.net'], 'granted, and never used');
});

/** Programs log to the standard output of this process. Their lines are kept and not shown. */
function keepLogLines(): void {
  const write = process.stdout.write.bind(process.stdout);
  const tap = (chunk: string | Uint8Array, ...more: never[]) => {
    if (typeof chunk !== 'string' || !chunk.startsWith('{"level":')) return write(chunk, ...more);
    logged.push(chunk);
    return true;
  };
  process.stdout.write = tap;
}

test('a user logs in with a token, sees the nodes, and submits a job as themselves', async () => {
  const alice = await stage.logIn('alice');
  await until('the nodes', async () => (await stage.ask(`${base}/nodes`, alice)).body.rows?.length === 4);
  const job = { script: '#!/bin/sh\n', name: 'mine', hold: true };
  const submitted = await stage.ask(`${base}/jobs`, alice, job);
  assert.deepEqual([submitted.status, submitted.body.user], [200, 'alice'], JSON.stringify(submitted.body));
  const row = await until('her job', async () =>
    (await stage.ask(`${base}/jobs`, alice)).body.rows.find(({ name }) => name === 'mine'),
  );
  assert.equal(row.user, 'alice');
  // What the page of a node and of the overview reads of Kubernetes.
  assert.equal((await stage.ask(`${base}/overview`, alice)).status, 200);
  assert.equal((await stage.ask(`${base}/rollouts`, alice)).status, 200);
  const { status, body } = await stage.ask(`${base}/configuration`, alice);
  assert.equal(status, 200, JSON.stringify(body));
  assert.match(JSON.stringify(body), /ClusterName=/);
});

test('a ConfigMap with the label is a template, of this cluster or of all', async () => {
  const { client, namespace } = stage.world;
  const template = (name: string, value: string) =>
    client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels: { [label.jobTemplate]: value } },
      data: { script: `#!/bin/sh\n# ${name}\n`, description: 'To begin with' },
    });
  await template('for-all', '');
  await template('for-slurm', 'slurm');
  await template('for-another', 'another');
  const { status, body } = await stage.ask(`${base}/templates`, await stage.logIn('alice'));
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.templates.map(({ name }) => name),
    ['for-all', 'for-slurm'],
  );
});

test('who may see no cluster sees that there is none', async () => {
  const mallory = await stage.logIn('mallory');
  assert.deepEqual((await stage.ask('/api/clusters', mallory)).body.clusters, []);
  assert.equal((await stage.ask(`${base}/nodes`, mallory)).status, 403);
  assert.equal((await stage.ask('/api/login', {}, { token: 'made-up' })).status, 401);
});

test('no token of anybody is in the log, at its most talkative', async () => {
  const alice = await stage.logIn('alice');
  const guess = `${stage.tokens.at(-1)}x`;
  assert.equal((await stage.ask('/api/login', {}, { token: guess })).status, 401);
  assert.equal((await stage.ask(`/api/me?token=${guess}`, {})).status, 401);
  assert.equal((await stage.ask(`${base}/jobs`, alice, { script: `#!/bin/sh\n# ${guess}\n` })).status, 200);
  assert.equal((await stage.ask(`${base}/jobs/cancel`, alice, { ids: ['4711'] })).status, 200);
  assert.equal((await stage.ask('/api/logout', alice, {})).status, 200);
  const log = logged.join('');
  for (const line of ['"msg":"dashboard listens"', '"msg":"audit"', '"level":"debug"'])
    assert.ok(log.includes(line), `it has ${line}`);
  assert.equal(stage.tokens.length >= 4, true, 'of both programs and of people');
  for (const token of stage.tokens) assert.ok(!log.includes(token), 'a token of Kubernetes');
  const cookie = alice.Cookie.split('=')[1] ?? '';
  assert.ok(cookie.length > 20 && !log.includes(cookie), 'the cookie of a session');
  // Those of Slurm, which the exchange signs, as well.
  assert.deepEqual(/eyJ[\w-]{10,}\.[\w-]{10,}/.exec(log)?.[0], undefined, 'anything that looks like a JWT');
});
