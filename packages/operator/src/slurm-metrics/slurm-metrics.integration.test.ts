/** The metrics of a whole Slurm, through the client and the views that the operator has: what they are, how many, and what they ask. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { exposed } from '../../testing/metrics-stage.ts';

const labels = 'namespace="hpc",cluster="slurm"';

test('shows nodes, drains, pending jobs, waits, GPUs and figures of slurmctld', async () => {
  await using stage = await exposed('n[0-3]');
  const { cluster, simulator } = stage;
  const node = cluster.node('n0');
  Object.assign(node, { reason: 'bad disk', reasonSetBy: 'alice', reasonSetAt: Date.now() - 60_000 });
  node.flags.add('DRAIN');
  cluster.touch(node);
  cluster.createJob({ partition: 'all', held: true });
  const connection = await stage.connect();
  const gpu = {
    user: 'bob',
    account: 'ml',
    submittedAt: Date.now() - 30_000,
    gresDetail: ['gpu:h100:2(IDX:0,3)'],
  };
  const id = cluster.runJob(['n1'], gpu);
  const gpuSeries = `job_gpu{${labels},job_id="${id}",user="bob",account="ml",partition="all",node="n1",gpu="3"}`;
  await until(
    'the GPU of a job that began later',
    async () => (await stage.series('job_gpu{')).get(gpuSeries) === 1,
  );
  await until('the reasons of pending jobs', async () => (await stage.series('jobs_pending{')).size > 0);
  connection.lastDiag = { at: Date.now(), diag: await simulator.client().controller.diag() };
  const shown = await stage.series();
  assert.equal(shown.get(`slurm_known{${labels}}`), 1);
  assert.equal(shown.get(`node_state{${labels},nodeset="",node="n0",state="drained"}`), 1);
  assert.equal(shown.get(`node_state{${labels},nodeset="",node="n1",state="mixed"}`), 1);
  assert.equal(shown.get(`nodes_drained{${labels},class="person"}`), 1);
  assert.equal(shown.get(`nodes_drained{${labels},class="removal"}`), 0);
  const drained = shown.get(
    `node_out_of_service_seconds{${labels},nodeset="",node="n0",state="drained",class="person"}`,
  );
  assert.ok(drained !== undefined && drained >= 59, String(drained));
  assert.equal(shown.get(`jobs_pending{${labels},partition="all",why="Held"}`), 1);
  assert.equal((await stage.series('job_gpu{')).size, 2);
  assert.equal(shown.get(`job_gpu_omitted{${labels}}`), 0);
  assert.equal(shown.get(`job_wait_seconds_count{${labels},partition="all"}`), 1);
  assert.ok((shown.get(`job_wait_seconds_sum{${labels},partition="all"}`) ?? 0) >= 29);
  assert.equal(shown.get(`slurmctld_rpcs_total{${labels},rpc="REQUEST_CONFIG"}`), 3);
  assert.equal(shown.get(`slurmctld_threads{${labels}}`), 1);
  await stage.pool.remove('hpc/slurm');
  assert.deepEqual(
    [...(await stage.series())].filter(([name]) => !name.startsWith('job_wait')),
    [],
  );
});

test('what is unknown has no series: no node looks idle while Slurm does not answer', async () => {
  await using stage = await exposed('n[0-3]');
  const connection = await stage.connect();
  stage.cluster.runJob(['n1'], { gresDetail: ['gpu:1(IDX:0)'] });
  await until('a GPU', async () => (await stage.series('job_gpu{')).size === 1);
  stage.simulator.faults.controllerDown = true;
  await until(
    'unknown',
    () => connection.gateway.view().kind === 'unknown' && connection.jobs.kind === 'unknown',
  );
  assert.equal((await stage.series('slurm_known')).get(`slurm_known{${labels}}`), 0);
  for (const name of ['node_state{', 'nodes_drained{', 'job_gpu{', 'jobs_pending{'])
    assert.equal((await stage.series(name)).size, 0, name);
});

test('5,000 nodes and 2,000 jobs with 8 GPUs each: a series per node and per GPU, and one list of jobs a minute', async () => {
  await using stage = await exposed('n[0-4999]');
  const { simulator } = stage;
  await stage.run({ jobs: 2_000, gpus: 8, pending: 500 });
  const shown = await stage.series();
  assert.equal([...shown.keys()].filter((name) => name.startsWith('node_state{')).length, 5_000);
  assert.ok(shown.size < 21_100, `${shown.size} series`);
  const lists = () => simulator.requests.filter(({ path }) => /^slurm\/jobs\/$/.test(path)).length;
  const before = lists();
  for (let scrape = 0; scrape < 5; scrape += 1) await stage.series();
  assert.equal(lists(), before, 'a scrape asks for nothing');
});
