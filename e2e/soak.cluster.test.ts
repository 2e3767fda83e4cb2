/** A short soak of the whole surface, every time; `make soak OPS=1000` is the long form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsThisMachine } from './src/given/given-cluster.ts';
import { operationKinds } from './src/soak/operations.ts';
import { runSoak } from './src/soak/run-soak.ts';

/** Chance finds more than one history, but a failure must be one that can be had again. */
const seed = 20_260;

/** Not green yet: jobs that end with a NodeSet of policy Delete count as lost, and annotations of users as a difference. */
const asked = process.env['SOAK'] === 'short';

test('one operation of every kind under load loses no job, touches nothing of others, and ends where a fresh install ends', {
  ...needsThisMachine('it cuts the power of nodes, pauses processes and reads the audit log'),
  ...(asked ? {} : { skip: 'not green yet; SOAK=short runs it' }),
  timeout: 2_700_000,
}, async () => {
  const lines: string[] = [];
  try {
    const result = await runSoak({
      ops: operationKinds.length,
      seed,
      nodes: 7,
      name: `e2e-soak-${process.pid}`,
      shortest: 2,
      longest: 8,
      pause: 500,
      eachKind: true,
      say: (line) => void lines.push(`${new Date().toISOString()} ${line}`),
    });
    const { jobs_lost, jobs_requeued_by_operator, end_state_equal, foreign_touched } = result;
    assert.deepEqual(
      { jobs_lost, jobs_requeued_by_operator, end_state_equal, foreign_touched },
      { jobs_lost: 0, jobs_requeued_by_operator: 0, end_state_equal: true, foreign_touched: [] },
    );
    assert.deepEqual(Object.keys(result.operations).toSorted(), operationKinds.toSorted());
    assert.ok(result.jobs_run >= 10, `only ${result.jobs_run} jobs ran: was there any load?`);
    console.log(JSON.stringify(result));
  } catch (error) {
    console.log(lines.join('\n'));
    throw error;
  }
});
