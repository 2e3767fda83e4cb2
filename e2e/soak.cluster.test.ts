/** A short soak of the whole surface, every time; `make soak OPS=1000` is the long form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGiven, needsCluster, needsThisMachine } from './src/given/given-cluster.ts';
import { runApiSoak } from './src/soak/api-soak.ts';
import { runSoak } from './src/soak/run-soak.ts';

/** Chance finds more than one history, but a failure must be one that can be had again. */
const seed = 20_260;

/** Some of every family, and first those whose effects take longest. `make soak` draws from all kinds. */
const kinds: readonly string[] = [
  'delete a NodeSet at once',
  'create, use or delete the Accounting',
  'scale',
  'enable or disable a partition',
  'suspend a job',
  'kill -9 the operator after it has reserved',
  'change extraConf of the Controller',
  'create a NodeSet',
  'cordon or uncordon a machine',
  'kill -9 the operator',
  'change maxNodeCount',
  'create or delete the LoginSet',
  'scale in under suspended jobs',
  'delete a NodeSet with its pending jobs',
  'restart slurmctld',
  'roll out',
  'evict a busy worker',
  'create a NodeSet',
  'change a hostname',
  'pause slurmrestd',
  'rename a NodeSet',
  'cancel a job',
  'restart the API server',
  'delete a NodeSet, draining',
  'create, use or delete the Accounting',
];

/** Elsewhere the operations below include all of these. */
if (isGiven)
  test('operations through the Kubernetes API under load: every job completes in its first run', {
    ...needsCluster(3),
    timeout: 2_700_000,
  }, async () => {
    const result = await runApiSoak(`e2e-api-soak-${process.pid}`, console.log);
    assert.deepEqual(result.jobs_hurt, []);
    assert.ok(result.jobs_run >= 10, `only ${result.jobs_run} jobs ran: was there any load?`);
    console.log(JSON.stringify(result));
  });

test('operations of every family under load lose no job, touch nothing of others, and end where a fresh install ends', {
  ...needsThisMachine('it cuts the power of nodes, pauses processes and reads the audit log'),
  timeout: 2_700_000,
}, async () => {
  const lines: string[] = [];
  try {
    const result = await runSoak({
      ops: kinds.length,
      seed,
      nodes: 7,
      name: `e2e-soak-${process.pid}`,
      shortest: 2,
      longest: 8,
      pause: 500,
      first: kinds,
      say: (line) => void lines.push(`${new Date().toISOString()} ${line}`),
    });
    const { jobs_lost, jobs_requeued_by_operator, end_state_equal, foreign_touched } = result;
    assert.deepEqual(
      { jobs_lost, jobs_requeued_by_operator, end_state_equal, foreign_touched },
      { jobs_lost: 0, jobs_requeued_by_operator: 0, end_state_equal: true, foreign_touched: [] },
    );
    assert.deepEqual(Object.keys(result.operations).toSorted(), [...new Set(kinds)].toSorted());
    assert.ok(result.jobs_run >= 10, `only ${result.jobs_run} jobs ran: was there any load?`);
    console.log(JSON.stringify(result));
  } catch (error) {
    console.log(lines.join('\n'));
    throw error;
  }
});
