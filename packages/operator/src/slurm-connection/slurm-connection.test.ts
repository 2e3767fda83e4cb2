import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControllerStart } from './slurm-connection.ts';

test('nodes that vanished make slurmctld count as young until it was asked again', () => {
  const start = new ControllerStart();
  assert.equal(start.at, undefined, 'it was never asked');
  start.told(1_000, 50_000);
  assert.equal(start.at, 1_000);
  start.nodesRemoved(60_000);
  assert.equal(start.at, 60_000, 'the answer is older than the list without the nodes');
  start.told(59_000, 61_000);
  assert.equal(start.at, 59_000, 'it has restarted');
  start.nodesRemoved(70_000);
  start.told(59_000, 71_000);
  assert.equal(start.at, 59_000, 'it has not: a user removed the nodes');
});

test('a slurmctld that does not say when it started is not known to be old', () => {
  const start = new ControllerStart();
  start.told(1_000, 50_000);
  start.told(undefined, 60_000);
  assert.equal(start.at, undefined);
});
