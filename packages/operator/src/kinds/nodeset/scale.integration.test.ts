/** What a worker costs in requests, counted in lockstep, so that nothing but the operator decides about it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeSetStage } from '../../../testing/nodeset-stage.ts';

interface Cost {
  /** Writes to pods and to Slurm nodes until all workers exist, are reported and registered. */
  readonly writes: number;
  /** Reads of the operator past its caches. */
  readonly reads: number;
}

async function scaleOut(workers: number): Promise<Cost> {
  await using stage = await NodeSetStage.open(workers, { lockstep: true });
  await stage.createNodeSet('w', { replicas: workers });
  await stage.startOperator();
  assert.equal(await stage.runInLockstep(), 'rest');
  await stage.untilQuiet('w', workers);
  const podWrites = stage.writes().filter((write) => write.includes('pods')).length;
  return { writes: podWrites + stage.slurm.asked.length, reads: stage.reads().length };
}

test('one more worker costs at most four writes, and no read', { timeout: 600_000 }, async () => {
  const [few, many] = [await scaleOut(2), await scaleOut(8)];
  assert.ok(few.writes >= 2 * 3, `${few.writes} writes for two workers: is anything happening?`);
  const each = (many.writes - few.writes) / 6;
  assert.ok(each <= 4, `${few.writes} writes for 2 workers, ${many.writes} for 8`);
  // A watch that had to start again may have listed once more; six workers would have queried six times.
  assert.ok(many.reads - few.reads < 6, `${few.reads} reads for 2 workers, ${many.reads} for 8`);
});
