/** Every fixture, evaluated without a server. The same run on the embedded API server: `fixtures.integration.test.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionOf, evaluateRules, loadFixtures, loadUserManifests } from '../testing/index.ts';
import { kinds } from './kinds/index.ts';
import { rootSchema } from './schema/crd.ts';
import { walk } from './schema/paths.ts';

const fixtures = loadFixtures();

test('there are at least 150 fixtures: accepted, refused and updates', () => {
  assert.ok(fixtures.length >= 150, `${fixtures.length} fixtures`);
  assert.equal(new Set(fixtures.map((fixture) => fixture.name)).size, fixtures.length, 'names are unique');
  for (const { kind } of kinds) {
    const own = fixtures.filter((fixture) => fixture.object.kind === kind);
    assert.ok(own.some((fixture) => fixture.refused === undefined && fixture.old === undefined));
    assert.ok(own.some((fixture) => fixture.refused !== undefined && fixture.old === undefined));
    assert.ok(own.some((fixture) => fixture.old !== undefined));
  }
});

for (const { name, definition, object, old, refused } of fixtures) {
  test(`${name} is ${refused === undefined ? 'accepted' : 'refused'}`, () => {
    const schema = rootSchema(definition);
    if (old !== undefined) assert.deepEqual(evaluateRules(schema, old), [], 'the stored object is sound');
    const complaints = evaluateRules(schema, object, old);
    if (refused === undefined) assert.deepEqual(complaints, []);
    else {
      assert.equal(complaints.length, 1, `one complaint, not: ${complaints.join('\n')}`);
      assert.ok(complaints[0]?.includes(refused), `"${complaints[0]}" says "${refused}"`);
    }
  });
}

test('every CEL rule refuses at least one fixture', () => {
  const idle: string[] = [];
  for (const definition of kinds) {
    const messages = fixtures
      .filter((fixture) => fixture.definition === definition && fixture.refused !== undefined)
      .flatMap((fixture) => evaluateRules(rootSchema(definition), fixture.object, fixture.old));
    for (const { path, schema } of walk(rootSchema(definition)))
      for (const rule of schema['x-kubernetes-validations'] ?? [])
        if (!messages.some((message) => message.includes(rule.message)))
          idle.push(`${definition.kind} ${path}: ${rule.message}`);
  }
  assert.deepEqual(idle, []);
});

test('every CEL rule is asked about, and content with, at least one fixture: transition rules with an update', () => {
  const unasked: string[] = [];
  for (const definition of kinds) {
    const schema = rootSchema(definition);
    const asked = new Set<string>();
    for (const fixture of fixtures)
      if (fixture.definition === definition && fixture.refused === undefined)
        evaluateRules(schema, fixture.object, fixture.old, ({ message }) => asked.add(message));
    for (const { path, schema: at } of walk(schema))
      for (const rule of at['x-kubernetes-validations'] ?? [])
        if (!asked.has(rule.message)) unasked.push(`${definition.kind} ${path}: ${rule.message}`);
  }
  assert.deepEqual(unasked, []);
});

for (const manifest of loadUserManifests()) {
  test(`a manifest of upstream's users is accepted: ${manifest.kind} ${manifest.metadata.name}`, () => {
    assert.deepEqual(evaluateRules(rootSchema(definitionOf(manifest.kind)), manifest), []);
  });
}
