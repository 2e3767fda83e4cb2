/** The laws of server-side apply, on values made at random and on a few by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject, Schema } from '../schema/schema.ts';
import { FieldSet } from './field-set.ts';
import { fitToSchema } from './fit-to-schema.ts';
import { type Manager, type Managers, managerKey } from './managed-fields.ts';
import { type ApplyOutcome, ownersAfterApply, ownersAfterUpdate } from './owners.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        color: { type: 'string' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        plain: { type: 'array', items: { type: 'string' } },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'protocol'],
          items: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              protocol: { type: 'string', default: 'TCP' },
              value: { type: 'integer' },
            },
          },
        },
      },
    },
  },
};

const noFields = new FieldSet();
const word = fc.constantFrom('a', 'b', 'c', 'toString', 'constructor');

const spec = fc.record(
  {
    size: fc.integer({ min: 0, max: 3 }),
    color: word,
    labels: fc.dictionary(word, word, { minKeys: 1, maxKeys: 3 }),
    plain: fc.array(word, { minLength: 1, maxLength: 3 }),
    tags: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
    items: fc.uniqueArray(
      fc.record({ name: word, value: fc.integer({ min: 0, max: 3 }) }, { requiredKeys: ['name'] }),
      { minLength: 1, maxLength: 3, selector: ({ name }) => name },
    ),
  },
  { requiredKeys: [] },
);
const configuration = spec.map(
  (value) => (Object.keys(value).length === 0 ? {} : { spec: value }) as JsonObject,
);

interface State {
  readonly value: Json;
  readonly managers: Managers;
}

const start: State = { value: {}, managers: new Map() };

function manager(name: string, operation: 'Apply' | 'Update' = 'Apply'): Manager {
  return { manager: name, operation, apiVersion: 'v1', subresource: '', fields: noFields, time: 'now' };
}

function tryApply({ value, managers }: State, name: string, applied: Json, force = false): ApplyOutcome {
  const applier = manager(name);
  return ownersAfterApply(schema, value, applied, managers, applier, managerKey(applier), noFields, force);
}

function apply(state: State, name: string, applied: Json, force = false): State {
  const outcome = tryApply(state, name, applied, force);
  return { value: outcome.value === undefined ? state.value : outcome.value, managers: outcome.managers };
}

function update({ value, managers }: State, name: string, next: Json): State {
  const writer = manager(name, 'Update');
  return {
    value: next,
    managers: ownersAfterUpdate(schema, value, next, managers, writer, managerKey(writer), noFields),
  };
}

function fieldsOf({ managers }: State, name: string): FieldSet {
  return [...managers.values()].find((each) => each.manager === name)?.fields ?? noFields;
}

test('applying the same twice changes nothing the second time', () => {
  fc.assert(
    fc.property(configuration, configuration, (first, second) => {
      const once = apply(apply(start, 'a', first), 'b', second, true);
      const again = tryApply(once, 'b', second);
      assert.equal(again.value, undefined);
      assert.deepEqual(again.conflicts, []);
      assert.deepEqual(again.managers, once.managers);
    }),
  );
});

test('what an applier says is what the object holds', () => {
  fc.assert(
    fc.property(configuration, configuration, (first, second) => {
      const { value } = apply(apply(start, 'a', first), 'b', second, true);
      assert.ok(holds(value, second), `${JSON.stringify(value)} does not hold ${JSON.stringify(second)}`);
    }),
  );
});

/** Every leaf of the applied value is in the object; keyed items are found by name. */
function holds(value: Json | undefined, applied: Json): boolean {
  if (Array.isArray(applied))
    return (
      Array.isArray(value) &&
      applied.every((item) => {
        const name = typeof item === 'object' ? (item as JsonObject)['name'] : item;
        return value.some((own) =>
          typeof own === 'object' ? (own as JsonObject)['name'] === name && holds(own, item) : own === item,
        );
      })
    );
  if (typeof applied !== 'object' || applied === null) return value === applied;
  return Object.entries(applied).every(([key, child]) =>
    holds((value as JsonObject | undefined)?.[key], child),
  );
}

test('two appliers that say different things both keep theirs', () => {
  fc.assert(
    fc.property(configuration, configuration, (first, second) => {
      const one = apply(start, 'a', first);
      const outcome = tryApply(one, 'b', second);
      if (outcome.conflicts.length > 0) return;
      const both: State = {
        value: outcome.value === undefined ? one.value : outcome.value,
        managers: outcome.managers,
      };
      assert.ok(holds(both.value, first) && holds(both.value, second));
      assert.ok(
        fieldsOf(one, 'a').equals(fieldsOf(both, 'a')),
        'the first applier lost a field without a conflict',
      );
    }),
    { numRuns: 300 },
  );
});

test('what the last owner leaves out goes; what another owns too stays', () => {
  fc.assert(
    fc.property(configuration, configuration, (first, second) => {
      const both = apply(apply(start, 'a', first), 'b', second, true);
      const left = apply(both, 'b', {});
      assert.ok(fieldsOf(left, 'b').empty);
      // Alone again, the first applier's object is what it would have been without the second.
      const alone = apply(start, 'a', first);
      const kept = fieldsOf(both, 'a').equals(fieldsOf(alone, 'a'));
      if (kept) assert.deepEqual(settled(left.value), settled(alone.value));
      const gone = apply(left, 'a', {});
      assert.equal(settled(gone.value), null);
    }),
  );
});

/** What was emptied on the way is null until the server drops it; the order of keyed items is the last applier's. */
function settled(value: Json): Json {
  if (Array.isArray(value))
    return value.map(settled).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .map(([key, child]) => [key, settled(child)] as const)
    .filter(([, child]) => child !== null);
  return kept.length === 0 ? (null as Json) : Object.fromEntries(kept);
}

test('force takes fields from others, and they no longer own them', () => {
  fc.assert(
    fc.property(configuration, configuration, (first, second) => {
      const one = apply(start, 'a', first);
      const { conflicts } = tryApply(one, 'b', second);
      const taken = conflicts.reduce((all, { fields }) => all.union(fields), new FieldSet());
      const forced = apply(one, 'b', second, true);
      assert.ok(fieldsOf(forced, 'a').intersection(taken).empty);
    }),
  );
});

test('a plain write owns exactly what it changed, and never conflicts', () => {
  fc.assert(
    fc.property(configuration, configuration, (first, second) => {
      const written = update(apply(start, 'a', first), 'w', second);
      const again = update(written, 'other', second);
      assert.ok(fieldsOf(again, 'other').empty, 'a write that changes nothing owns nothing');
      const owned = [...fieldsOf(written, 'a').paths(), ...fieldsOf(written, 'w').paths()].map((path) =>
        path.join('/'),
      );
      const shared = owned.filter((path, index) => owned.indexOf(path) !== index);
      assert.deepEqual(shared, [], 'a field that was changed has one owner');
    }),
  );
});

test('an item is found by its keys, a missing key counting as its default', () => {
  const one = apply(start, 'a', { spec: { items: [{ name: 'x', value: 1 }] } });
  const { conflicts } = tryApply(one, 'b', { spec: { items: [{ name: 'x', protocol: 'TCP', value: 2 }] } });
  assert.deepEqual(
    conflicts.map(({ fields }) => [...fields.paths()].map((path) => path.join(' '))),
    [['f:spec f:items k:{"name":"x","protocol":"TCP"} f:value']],
  );
});

test('the order of a merged list follows the applied one where both know an item', () => {
  const live = apply(start, 'a', { spec: { tags: ['a', 'b', 'c'] } });
  const { value } = apply(live, 'b', { spec: { tags: ['c', 'a', 'd'] } });
  assert.deepEqual(value, { spec: { tags: ['b', 'c', 'a', 'd'] } });
});

test('what only the object knows keeps its neighbours, what is new comes where it was applied', () => {
  const live = apply(start, 'a', { spec: { tags: ['a', 'c', 'z'] } });
  const { value } = apply(live, 'b', { spec: { tags: ['a', 'm', 'c'] } });
  assert.deepEqual(value, { spec: { tags: ['a', 'm', 'c', 'z'] } });
});

test('a writer keeps what it owned before, and a part that appears is owned with what is in it', () => {
  const one = update(start, 'w', { spec: { labels: { a: '1' } } });
  const two = update(one, 'w', { spec: { labels: { a: '1' }, size: 1 } });
  assert.deepEqual(fieldsOf(two, 'w').toFieldsV1(), {
    'f:spec': { '.': {}, 'f:labels': { '.': {}, 'f:a': {} }, 'f:size': {} },
  });
  const three = update(two, 'w', { spec: { size: 1 } });
  assert.deepEqual(fieldsOf(three, 'w').toFieldsV1(), { 'f:spec': { '.': {}, 'f:size': {} } });
});

test('when a list becomes atomic, the owner of an item owns the whole list', () => {
  const { managers } = apply(start, 'a', { spec: { size: 1, items: [{ name: 'x', value: 1 }] } });
  const before = schema.properties?.['spec'] as Schema;
  const atomic: Schema = {
    ...schema,
    properties: {
      spec: {
        ...before,
        properties: { ...before.properties, items: { type: 'array', items: { type: 'object' } } },
      },
    },
  };
  const [fitted] = fitToSchema(new Map(managers), atomic).values();
  assert.deepEqual(fitted?.fields.toFieldsV1(), { 'f:spec': { 'f:items': {}, 'f:size': {} } });
  const [same] = fitToSchema(new Map(managers), schema).values();
  assert.equal(same?.fields, [...managers.values()][0]?.fields);
});
