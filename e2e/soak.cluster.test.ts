/** Thirty random operations under load, every time; `make soak OPS=200` is the long form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsThisMachine } from './src/given/given-cluster.ts';
import { runSoak } from './src/soak/run-soak.ts';

/** Chance finds more than one history, but a failure must be one that can be had again. */
const seed = 20_260;

test('thirty random operations under load lose no job by the operator’s hand, and end where a fresh apply ends', {
  ...needsThisMachine('it cuts the power of nodes, pauses processes and reads the audit log'),
  timeout: 2_700_000,
}, async () => {
  const lines: string[] = [];
  try {
    const result = await runSoak({
      ops: 30,
      seed,
      nodes: 3,
      name: `e2e-soak-${process.pid}`,
      shortest: 5,
      longest: 10,
      pause: 1_000,
      say: (line) => void lines.push(`${new Date().toISOString()} ${line}`),
    });
    const { jobs_lost, jobs_requeued_by_operator, end_state_equal } = result;
    assert.deepEqual(
      { jobs_lost, jobs_requeued_by_operator, end_state_equal },
      { jobs_lost: 0, jobs_requeued_by_operator: 0, end_state_equal: true },
    );
    assert.ok(result.jobs_run >= 10, `only ${result.jobs_run} jobs ran: was there any load?`);
    console.log(JSON.stringify(result));
  } catch (error) {
    console.log(lines.join('\n'));
    throw error;
  }
});
