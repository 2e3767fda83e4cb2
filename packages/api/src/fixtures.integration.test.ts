/** The CRDs on an API server: they are accepted, their rules compile, and every fixture gets the expected answer. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  defineResource,
  InvalidError,
  kubeconfigConfig,
  namespaces,
  type Resource,
} from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import {
  type Fixture,
  loadFixtures,
  loadUserManifests,
  type Manifest,
  plantUnguardedRule,
} from '../testing/index.ts';
import { clusterNamePolicy } from './cluster-name-policy.ts';
import { kinds } from './kinds/index.ts';
import { customResourceDefinition } from './schema/crd.ts';
import { applyDefaults } from './schema/defaults.ts';
import type { KindDefinition } from './schema/kind.ts';
import { apiVersion } from './well-known.ts';

const namespace = 'fixtures';
let server: ApiServer;
let client: Client;

before(async () => {
  server = await startApiServer();
  client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }));
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const definition of kinds)
    await client.create(customResourceDefinitions, customResourceDefinition(definition) as never);
});

after(async () => {
  client.close();
  await server.stop();
});

const resourceOf = ({ kind, plural }: KindDefinition): Resource =>
  defineResource({ apiVersion, kind, plural, namespaced: true });

const placed = (manifest: Manifest): never =>
  ({ ...manifest, metadata: { ...manifest.metadata, namespace } }) as never;

async function send({ definition, object, old }: Fixture): Promise<void> {
  const resource = resourceOf(definition);
  const ref = { namespace, name: object.metadata.name };
  try {
    if (old === undefined) {
      await client.create(resource, placed(object));
      return;
    }
    const { metadata } = await client.create(resource, placed(old));
    const { resourceVersion } = metadata;
    await client.replace(resource, {
      ...object,
      metadata: { ...object.metadata, namespace, resourceVersion },
    });
  } finally {
    await client.delete(resource, ref);
  }
}

for (const fixture of loadFixtures())
  test(`${fixture.name} is ${fixture.refused === undefined ? 'accepted' : 'refused'}`, async () => {
    const { refused } = fixture;
    if (refused === undefined) await send(fixture);
    else
      await assert.rejects(send(fixture), (error) => {
        assert.ok(error instanceof InvalidError, String(error));
        assert.ok(error.message.includes(refused), `"${error.message}" says "${refused}"`);
        return true;
      });
  });

for (const manifest of loadUserManifests())
  test(`a manifest of upstream's users is accepted: ${manifest.kind} ${manifest.metadata.name}`, async () => {
    const definition = kinds.find(({ kind }) => kind === manifest.kind);
    assert.ok(definition);
    await client.create(resourceOf(definition), placed(manifest));
  });

test('the server refuses the NodeSet definition whose default fails its own rule, as a real one does', async () => {
  const crd = plantUnguardedRule();
  crd.metadata.name = 'planted.unguarded.example.org';
  crd.spec.group = 'unguarded.example.org';
  crd.spec.names = { ...crd.spec.names, plural: 'planted', singular: 'plant', shortNames: [] };
  await assert.rejects(client.create(customResourceDefinitions, crd as never), (error) => {
    assert.ok(error instanceof InvalidError, String(error));
    assert.deepEqual(error.causes, [
      {
        reason: 'FieldValueInvalid',
        message:
          'Invalid value: "object": no such key: type evaluating rule: scheduledUpdate.startTime and scheduledUpdate.duration are required when type is ScheduledUpdate',
        field: 'spec.validation.openAPIV3Schema.properties[spec].properties[updateStrategy].default',
      },
    ]);
    return true;
  });
});

test('the API server fills in exactly what the defaulting function does', async () => {
  for (const fixture of loadFixtures().filter(
    ({ refused, old }) => refused === undefined && old === undefined,
  )) {
    const resource = resourceOf(fixture.definition);
    const created = await client.create(resource, placed(fixture.object), { dryRun: true });
    const { spec } = applyDefaults(fixture.definition, { spec: {}, ...fixture.object });
    assert.deepEqual((created as unknown as { spec: unknown }).spec, spec, fixture.name);
  }
});

test('the policy refuses a Controller whose derived ClusterName would be too long, and says so', async () => {
  for (const object of clusterNamePolicy) {
    const { apiVersion: version, kind } = object as Manifest;
    const plural = kind.endsWith('Policy')
      ? `${kind.slice(0, -1).toLowerCase()}ies`
      : `${kind.toLowerCase()}s`;
    await client.create(
      defineResource({ apiVersion: version, kind, plural, namespaced: false }),
      object as never,
    );
  }
  const definition = kinds.find(({ kind }) => kind === 'Controller');
  const base = loadFixtures().find(
    ({ object, refused }) => object.kind === 'Controller' && refused === undefined,
  );
  assert.ok(definition && base);
  const controller = (length: number, spec: object = {}) =>
    placed({
      ...base.object,
      metadata: { name: 'c'.repeat(length) },
      spec: { ...base.object.spec, ...spec },
    });
  const dryRun = (object: never) => client.create(resourceOf(definition), object, { dryRun: true });
  // A policy that was just made may not be in force at once.
  const longest = 40 - namespace.length - 1;
  const tooLong = await refusalOf(() => dryRun(controller(longest + 1)));
  assert.match(tooLong, /called fixtures_c+, which has more than 40 characters: set spec\.clusterName/);
  await dryRun(controller(longest));
  await dryRun(controller(longest + 1, { clusterName: 'short' }));
});

/** What the server says when it begins to refuse; it must do so soon. */
const refusalOf = (attempt: () => Promise<unknown>): Promise<string> =>
  until('a refusal', () =>
    attempt().then(
      () => undefined,
      (error: Error) => error.message,
    ),
  );
