import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { aController } from '../../../../testing/objects.ts';
import type { ObservedController } from '../observe.ts';
import { wantedKeys } from './wanted-keys.ts';

const asking = { [annotation.generateSlurmKey]: '{}', [annotation.generateJwtKey]: '{"a":"b"}' };

function observed(
  annotations: Record<string, string>,
  more: { spec?: object; existing?: readonly string[]; started?: boolean } = {},
) {
  const controller = aController();
  return {
    controller: {
      ...controller,
      metadata: { ...controller.metadata, annotations },
      spec: { ...controller.spec, ...more.spec },
    } as ObservedController['controller'],
    secrets: (more.existing ?? []).map((name) => ({ name, keys: {} })),
    statefulSet: {
      exists: more.started ?? false,
      updating: false,
      revision: undefined,
      slurmKey: undefined,
      replicas: 0,
      files: [],
      image: undefined,
    },
  };
}

test('creates no key without a request', () => {
  assert.deepEqual(wantedKeys(observed({})).secrets, []);
});

test('both keys, each in its Secret, with its annotations', () => {
  assert.deepEqual(wantedKeys(observed(asking)).secrets, [
    { name: 'slurm-auth', annotations: {}, bytes: { 'slurm.key': 1024 } },
    { name: 'slurm-jwt', annotations: { a: 'b' }, bytes: { 'jwt.key': 32 } },
  ]);
});

test('both keys in one Secret are made together', () => {
  const spec = {
    slurmKeyRef: { name: 'keys', key: 'slurm.key' },
    jwtKeyRef: { name: 'keys', key: 'jwt.key' },
  };
  assert.deepEqual(wantedKeys(observed(asking, { spec })).secrets, [
    { name: 'keys', annotations: { a: 'b' }, bytes: { 'slurm.key': 1024, 'jwt.key': 32 } },
  ]);
});

test('a Secret that exists is left alone, even when the key in it is missing', () => {
  const { secrets } = wantedKeys(observed(asking, { existing: ['slurm-auth'] }));
  assert.deepEqual(
    secrets.map(({ name }) => name),
    ['slurm-jwt'],
  );
});

test('a cluster that was started never gets another key', () => {
  assert.deepEqual(wantedKeys(observed(asking, { started: true })).secrets, []);
});

test('creates no keys for an external slurmctld', () => {
  assert.deepEqual(wantedKeys(observed(asking, { spec: { external: true } })).secrets, []);
});

for (const text of ['true', '[]', '{"a":1}', '{', 'null'])
  test(`an annotation of ${text} is told, and makes nothing`, () => {
    const { secrets, problems } = wantedKeys(observed({ [annotation.generateSlurmKey]: text }));
    assert.deepEqual(secrets, []);
    assert.match(problems[0]?.message ?? '', /generate-slurm-key must be a JSON object/);
  });
