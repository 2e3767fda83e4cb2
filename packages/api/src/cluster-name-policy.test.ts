import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluate } from '@marcbachmann/cel-js';
import { clusterNamePolicy } from './cluster-name-policy.ts';

interface Policy {
  readonly spec: {
    readonly validations: readonly { readonly expression: string; readonly messageExpression: string }[];
  };
}

test('the policy lets 40 characters pass, refuses 41 with the name in its words, and leaves a given name alone', () => {
  const [validation] = (clusterNamePolicy[0] as Policy).spec.validations;
  assert.ok(validation);
  const controller = (namespace: string, name: string, spec: object = {}) => ({
    object: { metadata: { namespace, name }, spec },
  });
  const holds = (context: Record<string, unknown>): unknown => evaluate(validation.expression, context);
  assert.equal(holds(controller('n'.repeat(9), 'c'.repeat(30))), true);
  assert.equal(holds(controller('n'.repeat(9), 'c'.repeat(31))), false);
  assert.equal(holds(controller('n'.repeat(9), 'c'.repeat(31), { clusterName: 'short' })), true);
  const message = evaluate(validation.messageExpression, controller('hpc', 'slurm'));
  assert.match(String(message), /called hpc_slurm, which has more than 40 characters: set spec.clusterName/);
});
