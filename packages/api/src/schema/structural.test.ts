/** The schemas are structural, complete and bounded; and the linter that says so is not blind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lint } from '../../testing/index.ts';
import { kinds } from '../kinds/index.ts';
import { rootSchema } from './crd.ts';
import { integer, list, mapOf, object, optional, text } from './fields.ts';
import { type StructuralSchema, structural } from './structural.ts';

for (const definition of kinds)
  test(`the schema of ${definition.kind} is structural, described and bounded`, () => {
    assert.deepEqual(lint(rootSchema(definition)), []);
  });

const described = { description: 'A field.' };
const planted: readonly {
  readonly breach: string;
  readonly schema: StructuralSchema;
  readonly found: RegExp;
}[] = [
  { breach: 'no type', schema: { ...described }, found: /has no type/ },
  {
    breach: 'a typed int-or-string',
    schema: { ...described, type: 'string', 'x-kubernetes-int-or-string': true },
    found: /excludes a type/,
  },
  {
    breach: 'object and map at once',
    schema: {
      ...described,
      type: 'object',
      properties: {},
      additionalProperties: { ...described, type: 'string' },
    },
    found: /both an object and a map/,
  },
  { breach: 'a list of nothing', schema: { ...described, type: 'array' }, found: /without items/ },
  {
    breach: 'a list without a merge rule',
    schema: { ...described, type: 'array', items: { ...described, type: 'string' } },
    found: /how server-side apply merges/,
  },
  {
    breach: 'a merge key that may be absent',
    schema: {
      ...described,
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { ...described, type: 'object', properties: { name: { ...described, type: 'string' } } },
    },
    found: /name may be absent/,
  },
  {
    breach: 'a default of the wrong type',
    schema: { ...described, type: 'integer', default: 'one' },
    found: /default is not valid/,
  },
  {
    breach: 'a default that breaks a rule of its own schema',
    schema: {
      ...described,
      type: 'string',
      maxLength: 9,
      default: 'b',
      'x-kubernetes-validations': [{ rule: "self == 'a'", message: 'must be a' }],
    },
    found: /default is not valid: : must be a/,
  },
  {
    breach: 'a default whose rule reads a nested default',
    schema: {
      ...described,
      type: 'object',
      default: {},
      properties: { type: { ...described, type: 'string', maxLength: 9, default: 'A' } },
      'x-kubernetes-validations': [{ rule: "self.type != 'B'", message: 'must not be B' }],
    },
    found: /default is not valid: : a rule cannot be evaluated: No such key: type/,
  },
  {
    breach: 'a required field that is not there',
    schema: { ...described, type: 'object', required: ['name'] },
    found: /requires name/,
  },
  { breach: 'no description', schema: { type: 'string' }, found: /no description/ },
  {
    breach: 'a rule on text of any length',
    schema: {
      ...described,
      type: 'string',
      'x-kubernetes-validations': [{ rule: "self != ''", message: 'must not be empty' }],
    },
    found: /reads self, which has no bound/,
  },
  {
    breach: 'a rule that reads text of any length further down',
    schema: {
      ...described,
      type: 'object',
      properties: { a: { ...described, type: 'string' } },
      'x-kubernetes-validations': [
        { rule: "self.a.size() > 0 || oldSelf.a == ''", message: 'must not be empty' },
      ],
    },
    found: /reads self\.a, which has no bound/,
  },
  {
    breach: 'a rule for every item of an endless list',
    schema: {
      ...described,
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        ...described,
        type: 'integer',
        'x-kubernetes-validations': [{ rule: 'self > 0', message: 'must be positive' }],
      },
    },
    found: /for every item, which has no bound/,
  },
  {
    breach: 'a pattern that looks around',
    schema: { ...described, type: 'string', pattern: '^(?!-)[a-z-]+$' },
    found: /looks around, which RE2 does not know/,
  },
  {
    breach: 'a rule whose expression refers back',
    schema: {
      ...described,
      type: 'string',
      maxLength: 9,
      'x-kubernetes-validations': [
        { rule: String.raw`self.matches('^(a|b)\\1$')`, message: 'must be a pair' },
      ],
    },
    found: /refers back, which RE2 does not know/,
  },
  {
    breach: 'a pattern that repeats too often',
    schema: { ...described, type: 'string', pattern: '^a{1,2000}$' },
    found: /more than 1000 times, which RE2 refuses/,
  },
  {
    breach: 'a rule that reads what is not declared',
    schema: {
      ...described,
      type: 'object',
      properties: {},
      'x-kubernetes-validations': [{ rule: 'has(self.missing)', message: 'must be there' }],
    },
    found: /self\.missing, which is not declared/,
  },
];

for (const { breach, schema, found } of planted)
  test(`the linter finds ${breach}`, () => {
    const root: StructuralSchema = { ...described, type: 'object', properties: { planted: schema } };
    assert.match(lint(root).join('\n'), found);
  });

test('a field with a default is always there in TypeScript and never required in the CRD', () => {
  const schema = structural(
    object(
      {
        must: text(described),
        may: optional(text(described)),
        filled: integer({ ...described, default: 3 }),
        names: list(text(described), { ...described, merge: 'atomic' }),
        counts: mapOf(integer(described), described),
      },
      described,
    ),
  );
  assert.deepEqual(schema.required, ['counts', 'must', 'names']);
  assert.deepEqual(Object.keys(schema.properties ?? {}), ['counts', 'filled', 'may', 'must', 'names']);
});
