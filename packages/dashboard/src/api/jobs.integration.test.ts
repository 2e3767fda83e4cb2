/** What people see of a job and do with it, beside submitting and cancelling. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { startDashboard } from '../../testing/dashboard-stage.ts';

const script = '#!/bin/sh\nsleep 60\n';

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
