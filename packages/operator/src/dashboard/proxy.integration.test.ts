/** The dashboard behind a proxy that logs people in: they act as themselves, with a right of the dashboard that holds for Slurm tokens only. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import {
  dashboardBase as base,
  DashboardWorld,
  dashboardAccount,
  dashboardRules,
} from '../../testing/dashboard-world.ts';
import { refusals, used } from '../../testing/restricted-config.ts';
import { dashboardProxyRules } from '../rbac/rules.ts';

const secret = 's'.repeat(40);
const through = (user: string, groups = '') => ({
  'x-proxy-secret': secret,
  'x-forwarded-user': user,
  'x-forwarded-groups': groups,
});
let stage: DashboardWorld;

before(async () => {
  stage = await DashboardWorld.start({
    userPrefix: '',
    rules: [...dashboardRules, ...dashboardProxyRules],
    flags: async (directory) => {
      const file = join(directory, 'proxy-secret');
      await writeFile(file, `${secret}\n`);
      return [`--proxy-secret-file=${file}`, '--proxy-act-as-users'];
    },
  });
  // Only those who are in the group may do anything.
  await stage.grant('hpc', { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'hpc' }, [
    { resources: ['clusters'], verbs: ['get'] },
    { resources: ['clusters/jobs'], verbs: ['list', 'create', 'update', 'delete'] },
  ]);
});
after(async () => {
  await stage?.stopPrograms();
  const { server } = stage.world;
  const refused = refusals(server, dashboardAccount);
  const impersonated = used(server.audit.find(), dashboardAccount).filter((one) =>
    one.includes('impersonate'),
  );
  await stage.stop();
  assert.deepEqual(refused, []);
  assert.deepEqual([...impersonated], [], 'the API server itself is never asked to impersonate');
});

test('a person whom the proxy names submits and cancels as themselves, and Slurm keeps them from jobs of others', async () => {
  const alice = through('alice', 'hpc,staff');
  await until('the nodes', async () => (await stage.ask(`${base}/nodes`, alice)).body.rows?.length === 4);
  const job = { script: '#!/bin/sh\n', name: 'mine', hold: true };
  const submitted = await stage.ask(`${base}/jobs`, alice, job);
  assert.deepEqual([submitted.status, submitted.body.user], [200, 'alice'], JSON.stringify(submitted.body));
  const { id } = submitted.body;
  assert.equal(stage.slurm.cluster.jobs.get(id)?.user, 'alice');
  const ids = [String(id)];
  const other = await stage.ask(`${base}/jobs/cancel`, through('bob', 'hpc'), { ids });
  assert.deepEqual([other.status, other.body.results[0]?.done], [200, false], JSON.stringify(other.body));
  const own = await stage.ask(`${base}/jobs/cancel`, alice, { ids });
  assert.equal(own.body.results[0]?.done, true, JSON.stringify(own.body));
});

test('who is not in the group may nothing, and root and system accounts get no token', async () => {
  const job = { script: '#!/bin/sh\n', hold: true };
  assert.equal((await stage.ask(`${base}/nodes`, through('mallory'))).status, 403);
  assert.equal((await stage.ask(`${base}/jobs`, through('mallory', 'staff'), job)).status, 403);
  for (const user of ['root', 'slurm', 'nobody', 'www-data', 'Alice'])
    assert.equal((await stage.ask(`${base}/jobs`, through(user, 'hpc'), job)).status, 403, user);
});

test('forged headers are nothing', async () => {
  const { 'x-proxy-secret': _, ...without } = through('alice', 'hpc');
  for (const headers of [
    without,
    { ...without, 'x-proxy-secret': `${secret}x` },
    { ...without, 'x-proxy-secret': '' },
    through('system:serviceaccount:slinky:slurm-operator', 'hpc'),
    through('bob,alice', 'hpc'),
    through('', 'hpc'),
  ])
    assert.equal((await stage.ask(`${base}/nodes`, headers)).status, 401);
  // A group of Kubernetes itself is not passed on.
  assert.equal((await stage.ask(`${base}/nodes`, through('mallory', 'system:masters'))).status, 403);
});
