/** The ground of the demo on an API server: what it takes, what it leaves to others, and who relies on it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { customResourceDefinition, kinds } from '@slurm-operator/api';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  kubeconfigConfig,
  NotFoundError,
  namespaces,
} from '@slurm-operator/kube';
import { tokens } from '@slurm-operator/operator';
import { waitUntil } from '@slurm-operator/sandbox';
import { othersObjects, surveyGround, takeGround } from './ground.ts';
import { releases } from './names.ts';

let server: ApiServer;
let client: Client;
before(async () => {
  server = await startApiServer();
  client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { userAgent: 'test' });
});
after(async () => {
  client.close();
  await server.stop();
});

const ours = {
  'meta.helm.sh/release-name': releases.customResources.name,
  'meta.helm.sh/release-namespace': releases.customResources.namespace,
};

test('free ground is taken, and taken again; what others have installed keeps the demo away', async () => {
  await takeGround(client);
  await takeGround(client);
  assert.deepEqual(await surveyGround(client), {
    foreignNamespaces: [],
    ownNamespaces: ['slurm-demo', 'slurm-demo-operator'],
    foreignDefinitions: [],
    ownDefinitions: [],
  });
  const [first, ...rest] = kinds;
  assert.ok(first);
  const theirs = customResourceDefinition(first);
  await client.create(customResourceDefinitions, theirs as never);
  await assert.rejects(takeGround(client), new RegExp(`${theirs.metadata.name}.*two of them would fight`));
  await client.mergePatch(
    customResourceDefinitions,
    { name: theirs.metadata.name },
    { metadata: { annotations: ours } },
  );
  for (const kind of rest) {
    const definition = customResourceDefinition(kind);
    const metadata = { ...definition.metadata, annotations: ours };
    await client.create(customResourceDefinitions, { ...definition, metadata } as never);
  }
  await takeGround(client);
  const ground = await surveyGround(client);
  assert.equal(ground.ownDefinitions.length, kinds.length);
  assert.deepEqual(ground.foreignDefinitions, []);

  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  await waitUntil(
    'the kinds to be served',
    () =>
      othersObjects(client, ground).then(
        () => true,
        (error: unknown) => {
          if (error instanceof NotFoundError) return false;
          throw error;
        },
      ),
    { timeoutMs: 120_000 },
  );
  assert.deepEqual(await othersObjects(client, ground), []);
  for (const [namespace, name] of [
    ['slurm-demo', 'demo'],
    ['team', 'theirs'],
  ] as const)
    await client.create(tokens, {
      apiVersion: 'slinky.slurm.net/v1beta1',
      kind: 'Token',
      metadata: { name, namespace },
      spec: { username: 'someone', jwtKeyRef: { name: 'key', key: 'jwt.key' } },
    } as never);
  assert.deepEqual(await othersObjects(client, ground), ['Token team/theirs']);
});

test('does not use a namespace of that name without the demo label', async () => {
  await client.mergePatch(
    namespaces,
    { name: 'slurm-demo' },
    { metadata: { labels: { 'app.kubernetes.io/managed-by': 'me' } } },
  );
  await assert.rejects(takeGround(client), /namespace slurm-demo exists and was not made by the demo/);
  assert.deepEqual((await surveyGround(client)).foreignNamespaces, ['slurm-demo']);
});
