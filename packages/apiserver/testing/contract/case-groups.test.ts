import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordedCases } from './case.ts';
import { isDisruptive } from './case-groups.ts';

const disruptive = new Set(
  recordedCases()
    .filter(isDisruptive)
    .map(({ name }) => name),
);

test('cases that write Nodes, webhooks or cluster-wide roles need leave, the rest keeps to its namespaces', () => {
  assert.ok(disruptive.has('builtins/23-node'));
  assert.ok(disruptive.has('admission/01-validating-deny'));
  assert.ok(disruptive.has('authz/03-clusterrole'));
  assert.ok(!disruptive.has('crud/01-create-get'));
  assert.ok(!disruptive.has('crd/05-defaulting'));
});
