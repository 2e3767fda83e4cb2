import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schema } from '../../schema/schema.ts';
import { acceptNames } from './conditions.ts';
import type { CustomNames, CustomResourceDefinition } from './definition.ts';
import { validateDefinition } from './validate-definition.ts';

function definition(schema: Schema, names: Partial<CustomNames> = {}): CustomResourceDefinition {
  const all = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', ...names };
  return {
    metadata: { name: `${all.plural}.example.org` },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: all,
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  };
}

function faultsOf(property: Schema): string[] {
  const faults = validateDefinition(definition({ type: 'object', properties: { x: property } }));
  return faults.map(
    ({ field, message }) => `${field.replace('spec.validation.openAPIV3Schema', '')}: ${message}`,
  );
}

const refused: readonly { reason: string; property: Schema; want: RegExp }[] = [
  {
    reason: 'a list without items',
    property: { type: 'array' },
    want: /^\.properties\[x\]\.items: Required value: must be specified$/,
  },
  {
    reason: 'a pattern that only JavaScript can read',
    property: { type: 'string', pattern: '^(?!kube-)' },
    want: /\.pattern: Invalid value: .*must be a valid regular expression, but isn't: error parsing regexp/,
  },
  {
    reason: 'an embedded resource of which nothing is said',
    property: { type: 'object', 'x-kubernetes-embedded-resource': true },
    want: /^\.properties\[x\]\.properties: Required value: must not be empty if x-kubernetes-embedded-resource/,
  },
  {
    reason: 'a default in a restriction',
    property: { type: 'string', anyOf: [{ default: 'a' }] },
    want: /anyOf\[0\]\.default: Forbidden: must be undefined to be structural/,
  },
  {
    reason: 'a rule in a restriction',
    property: { type: 'string', anyOf: [{ 'x-kubernetes-validations': [{ rule: 'true' }] }] },
    want: /anyOf\[0\]\.x-kubernetes-validations: Forbidden: must be empty to be structural/,
  },
  {
    reason: 'a keyed list without keys',
    property: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' },
    want: /x-kubernetes-list-map-keys: Required value/,
  },
  {
    reason: 'a key that is no property',
    property: {
      type: 'array',
      items: { type: 'object', properties: {} },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    want: /list-map-keys: Invalid value: \["name"\]: entries must all be names of item properties/,
  },
  {
    reason: 'a default that would be pruned',
    property: { type: 'object', default: { y: 1 }, properties: { z: { type: 'string' } } },
    want: /default: Invalid value: \{"y":1\}: must not have unknown fields/,
  },
  {
    reason: 'a rule that cannot be afforded: quadratic over unbounded lists',
    property: {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-validations': [{ rule: 'self.all(a, self.exists(b, a == b))' }],
    },
    want: /estimated rule cost exceeds budget by factor of more than 100x/,
  },
  {
    reason: 'a cheap rule that runs too often: once per item of an unbounded list',
    property: {
      type: 'array',
      items: {
        type: 'string',
        maxLength: 1000,
        'x-kubernetes-validations': [{ rule: "self.matches('^[a-z]+$')" }],
      },
    },
    want: /estimated rule cost exceeds budget|estimated rule cost total/,
  },
  {
    reason: 'a reason there is not',
    property: { type: 'string', 'x-kubernetes-validations': [{ rule: 'true', reason: 'Because' }] },
    want: /reason: Unsupported value: "Because"/,
  },
];

for (const { reason, property, want } of refused)
  test(`refused: ${reason}`, () => {
    const faults = faultsOf(property);
    assert.ok(
      faults.some((fault) => want.test(fault)),
      faults.join('\n') || 'no fault was found',
    );
  });

const accepted: readonly { reason: string; property: Schema }[] = [
  {
    reason: 'the same cheap rule on a bounded list',
    property: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'string',
        maxLength: 1000,
        'x-kubernetes-validations': [{ rule: "self.matches('^[a-z]+$')" }],
      },
    },
  },
  {
    reason: 'the same rule over bounded lists',
    property: {
      type: 'array',
      maxItems: 20,
      items: { type: 'string', maxLength: 50 },
      'x-kubernetes-validations': [{ rule: 'self.all(a, self.exists(b, a == b))' }],
    },
  },
  {
    reason: 'an unbounded string that may not change',
    property: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
  },
  {
    reason: 'the int-or-string form with its anyOf',
    property: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  },
  {
    reason: 'a key with a default',
    property: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string', default: 'a' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
  },
];

for (const { reason, property } of accepted)
  test(`accepted: ${reason}`, () => assert.deepEqual(faultsOf(property), []));

test('versions with schemas of their own are reported by their place', () => {
  const crd = definition({ type: 'object' });
  crd.spec.versions.push({
    name: 'v2',
    served: true,
    storage: false,
    schema: { openAPIV3Schema: { type: 'string' } },
  });
  const fields = validateDefinition(crd).map(({ field }) => field);
  assert.deepEqual(fields, ['spec.versions[1].schema.openAPIV3Schema.type']);
});

test('a taken name is not accepted, the others are', () => {
  const first = definition({ type: 'object' }, { shortNames: ['wd'] });
  first.status.acceptedNames = first.spec.names;
  const second = definition(
    { type: 'object' },
    { plural: 'gadgets', singular: 'gadget', listKind: 'GadgetList' },
  );
  const { accepted: names, conflict } = acceptNames(second, [first, second]);
  assert.deepEqual(conflict, { reason: 'KindConflict', message: '"Widget" is already in use' });
  assert.deepEqual(names, { plural: 'gadgets', singular: 'gadget', kind: '', listKind: 'GadgetList' });
});

test('a restriction at the root must be about fields that are specified', () => {
  const schema: Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
    anyOf: [{ properties: { spec: { properties: { a: { enum: ['x'] }, b: { enum: ['y'] } } } } }],
  };
  assert.deepEqual(
    validateDefinition(definition(schema)).map(({ field, message }) => `${field}: ${message}`),
    [
      'spec.validation.openAPIV3Schema.properties[spec].properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[spec].properties[b]',
    ],
  );
});
