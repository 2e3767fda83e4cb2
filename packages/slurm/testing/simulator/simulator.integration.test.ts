/** The simulator is as large and as slow as what was measured on real Slurm with 5,000 nodes and 5,000 jobs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../manual-clock.ts';
import { startSimulator } from './simulator.ts';
import { measuredLatency } from './simulator-latency.ts';

test('sizes: nodes of 2.56 KB, waiting jobs of 8.2 KB, states of 80 bytes', async () => {
  await using simulator = await startSimulator({ nodes: 'n[0-999]' });
  for (let index = 0; index < 1000; index += 1) simulator.cluster.createJob({ held: true });
  const client = simulator.client();
  const near = (bytes: number, each: number) =>
    assert.ok(Math.abs(bytes / 1000 / each - 1) < 0.1, `${bytes / 1000} bytes each, ${each} measured`);
  near((await client.nodes.list()).bytes, 2560);
  near((await client.jobs.list()).bytes, 8200);
  near((await client.jobs.states()).bytes, 80);
});

test('times: an answer comes when as much time has passed as the real one takes', async () => {
  const clock = new ManualClock(Date.now());
  await using simulator = await startSimulator({ nodes: 'n[0-99]', latency: 'measured', clock });
  const client = simulator.client({ apiVersion: 'v0.0.45' });
  const answered = client.nodes.list();
  while (clock.pending === 0) await new Promise(setImmediate); // it has been asked
  const whole = measuredLatency.base + 100 * measuredLatency.perListedNode;
  clock.advance(whole - 1);
  assert.equal(clock.pending, 1, 'not before its time');
  clock.advance(1);
  assert.equal((await answered).items.length, 100);
});
