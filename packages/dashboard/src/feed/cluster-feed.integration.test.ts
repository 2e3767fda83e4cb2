/** The feed on a simulated Slurm: what it announces, and what an outage looks like. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { systemClock } from '@slurm-operator/slurm';
import { Random, startSimulator } from '@slurm-operator/slurm/testing';
import type { NodeRow } from '../live/node-row.ts';
import { applied } from '../live/versioned-table.ts';
import { ClusterFeed, type FeedEvent } from './cluster-feed.ts';

async function stage() {
  const simulator = await startSimulator({ nodes: 'n[0-19]' });
  const feed = new ClusterFeed({
    client: simulator.client(),
    clock: systemClock,
    firstVersion: 1000,
    pace: { fastMs: 20, idleMinMs: 20 },
  });
  return {
    simulator,
    feed,
    [Symbol.asyncDispose]: async () => {
      await feed[Symbol.asyncDispose]();
      await simulator[Symbol.asyncDispose]();
    },
  };
}

test('a page that applies the deltas has the rows of the feed, after any changes', async () => {
  await using at = await stage();
  let page: { version: number; rows: ReadonlyMap<string, NodeRow> } = { version: 1000, rows: new Map() };
  at.feed.subscribe((event) => {
    if (event.type === 'nodes') page = applied(page, event.delta) ?? assert.fail('a gap between two deltas');
  });
  at.feed.start();
  using _fast = at.feed.pollFast();
  const random = new Random(3);
  const client = at.simulator.client();
  for (let round = 0; round < 25; round += 1) {
    const node = `n${random.below(20)}`;
    const { version } = at.feed.jobs;
    if (random.next() < 0.5) {
      at.simulator.cluster.runJob([node], { durationMs: 50 + random.below(200) });
      await until('the new job is in the feed', () => at.feed.jobs.version > version);
    } else await client.nodes.drain(node, `test: round ${round}`);
  }
  const drained = () =>
    [...at.simulator.cluster.nodes.values()]
      .filter(({ flags }) => flags.has('DRAIN'))
      .map(({ name }) => name);
  await until('the feed shows every drain', () => {
    const shown = [...at.feed.nodes.rows.values()].filter(({ state }) => state.includes('DRAIN'));
    assert.deepEqual(shown.map(({ key }) => key).toSorted(), drained().toSorted());
    return true;
  });
  assert.deepEqual(new Map(page.rows), new Map(at.feed.nodes.rows));
  assert.equal(page.version, at.feed.nodes.version);
});

test('while Slurm does not respond the rows stay, and every page is told since when nothing is known', async () => {
  await using at = await stage();
  const events: FeedEvent[] = [];
  at.feed.start();
  await until('all nodes are listed', () => at.feed.nodes.rows.size === 20);
  at.feed.subscribe((event) => events.push(event));
  at.simulator.faults.controllerDown = true;
  using _fast = at.feed.pollFast();
  const told = await until('the outage is announced', () => {
    const last = events.findLast((event) => event.type === 'freshness');
    return last?.type === 'freshness' && last.nodes.kind === 'unknown' ? last.nodes : undefined;
  });
  assert.ok(told.lastAt !== undefined && told.why.length > 0);
  assert.equal(at.feed.nodes.rows.size, 20);
  at.simulator.faults.controllerDown = false;
  await until('Slurm is known again', () => at.feed.freshness.nodes.kind === 'known');
});

test('the charts have a gap where nothing was known', async () => {
  await using at = await stage();
  at.feed.history.add(1, undefined);
  at.feed.start();
  await until('nodes and jobs are listed', () =>
    [at.feed.freshness.jobs, at.feed.freshness.nodes].every(({ kind }) => kind === 'known'),
  );
  at.feed.history.add(2, at.feed.figures);
  const { series } = at.feed.history.charts();
  assert.equal(series.nodesIdle[0], null);
  assert.equal(series.nodesIdle.at(-1), 20);
});
