/** An API server accepts the definition of every kind: structure, defaults, and type and cost of every rule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionFaults } from '@slurm-operator/apiserver';
import { plantUnguardedRule } from '../../testing/index.ts';
import { kinds } from '../kinds/index.ts';
import { customResourceDefinition } from './crd.ts';
import type { StructuralSchema } from './structural.ts';

for (const definition of kinds)
  test(`an API server accepts the definition of ${definition.kind}`, () => {
    assert.deepEqual(definitionFaults(customResourceDefinition(definition)), []);
  });

const at = 'spec.validation.openAPIV3Schema.properties[spec]';
const planted: readonly {
  readonly fault: string;
  readonly field: StructuralSchema;
  readonly found: string;
}[] = [
  {
    fault: 'a rule that reads a nested default without has()',
    field: {
      type: 'object',
      default: {},
      properties: { type: { type: 'string', default: 'A' } },
      'x-kubernetes-validations': [{ rule: "self.type != 'B'", message: 'must not be B' }],
    },
    found: `${at}.properties[planted].default: Invalid value: "object": no such key: type evaluating rule: must not be B`,
  },
  {
    fault: 'a default that breaks its own rule',
    field: {
      type: 'string',
      default: 'b',
      'x-kubernetes-validations': [{ rule: "self == 'a'", message: 'must be a' }],
    },
    found: `${at}.properties[planted].default: Invalid value: "b": must be a`,
  },
  {
    fault: 'a rule on a field that is not declared',
    field: {
      type: 'object',
      properties: {},
      'x-kubernetes-validations': [{ rule: 'has(self.missing)', message: 'must be there' }],
    },
    found: "compilation failed: ERROR: <input>:1:4: undefined field 'missing'",
  },
  {
    fault: 'a rule that compares text with a number',
    field: {
      type: 'string',
      'x-kubernetes-validations': [{ rule: 'self == 1', message: 'must be one' }],
    },
    found: "found no matching overload for '_==_' applied to '(string, int)'",
  },
  {
    fault: 'a rule that compares every item with every other of an unbounded list',
    field: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      'x-kubernetes-validations': [
        { rule: 'self.all(a, self.exists_one(b, a == b))', message: 'must be unique' },
      ],
    },
    found: 'Forbidden: estimated rule cost exceeds budget by factor of more than 100x',
  },
];

for (const { fault, field, found } of planted)
  test(`a definition is refused for ${fault}`, () => {
    const [definition] = kinds;
    assert.ok(definition);
    const crd = structuredClone(customResourceDefinition(definition));
    const spec = crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'];
    assert.ok(spec);
    spec.properties = { ...spec.properties, planted: field };
    const faults = definitionFaults(crd);
    assert.ok(
      faults.some((text) => text.includes(found)),
      `no fault has "${found}": ${faults.join('\n')}`,
    );
  });

test('the rule that a real API server refused in the NodeSet definition is refused', () => {
  assert.deepEqual(definitionFaults(plantUnguardedRule()), [
    `${at}.properties[updateStrategy].default: Invalid value: "object": no such key: type evaluating rule: scheduledUpdate.startTime and scheduledUpdate.duration are required when type is ScheduledUpdate`,
  ]);
});
