import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { now, observed, slurmNode, worker } from '../../../testing/observed.ts';
import { NodeSetMetrics } from './metrics.ts';
import type { Observed } from './model/observed.ts';
import { planWorkers } from './plan/plan-workers.ts';

const set = { namespace: 'slurm', name: 'w' };

/** Metrics of this NodeSet after one look: name without prefix → value. */
async function shown(given: Observed): Promise<Record<string, number>> {
  const registry = new Registry();
  const metrics = new NodeSetMetrics(registry);
  const decided = planWorkers(given, now);
  metrics.show({ facts: given }, decided, now);
  const lines = (await registry.metrics()).split('\n').filter((line) => line.includes('{'));
  return Object.fromEntries(
    lines.map((line) => [
      line.replace(/^slurm_operator_nodeset_(\w+)\{.*/, '$1'),
      Number(line.split(' ').at(-1)),
    ]),
  );
}

test('counts desired, current and terminating workers, and the progress of a rollout', async () => {
  const workers = [worker(0), worker(1, { revision: 'r0' })];
  const numbers = await shown(observed(workers, [slurmNode(0), slurmNode(1)]));
  assert.deepEqual(
    { ...numbers },
    {
      desired: 2,
      ready: 2,
      draining: 1,
      rollout_progress: 0.5,
      decisions_withheld: 0,
      decisions_waiting: 1,
      slurm_drained: 0,
      slurm_drained_by_others: 0,
    },
  );
});

test('a decision that waits because Slurm is unknown is counted apart from one that waits for a job', async () => {
  const unknown = { kind: 'unknown', since: 0, why: 'down' } as const;
  const blind = await shown(observed([worker(0)], [], { replicas: 0, slurm: unknown }));
  assert.deepEqual([blind['decisions_withheld'], blind['decisions_waiting']], [2, 0]);
  const theirs = slurmNode(0, { flags: new Set(['DRAIN']), reason: 'bad disk' });
  assert.equal((await shown(observed([worker(0)], [theirs])))['slurm_drained_by_others'], 1);
});

test('drains are timed from ours to the deletion, and actions counted by kind', async () => {
  const registry = new Registry();
  const metrics = new NodeSetMetrics(registry);
  metrics.count(set, { kind: 'drain', slurmName: 'w-0', reason: 'slurm-operator: x' }, 1_000);
  metrics.count(
    set,
    { kind: 'delete-worker', name: 'w-0', uid: 'u', slurmName: 'w-0', because: 'drained', why: 'update' },
    8_000,
  );
  const text = await registry.metrics();
  assert.match(text, /slurm_operator_nodeset_drain_seconds_sum\{namespace="slurm",nodeset="w"\} 7/);
  assert.match(
    text,
    /slurm_operator_nodeset_actions_total\{namespace="slurm",nodeset="w",action="drain"\} 1/,
  );
});
