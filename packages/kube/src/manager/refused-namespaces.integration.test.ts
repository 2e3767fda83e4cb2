/** A namespace of the list that is gone, with the role that it had, must not keep a program from serving the others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApiServer } from '@slurm-operator/apiserver';
import { FakeClock, until } from '../../testing/index.ts';
import {
  Cache,
  configMaps,
  createClient,
  createManager,
  kubeconfigConfig,
  namespaces,
  secrets,
} from '../index.ts';
import { silent } from '../log.ts';
import { RefusedNamespaces } from './refused-namespaces.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';

async function stage() {
  const server = await startApiServer();
  const admin = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { rateLimit: false });
  const grant = async (namespace: string, resources: readonly string[] = ['configmaps', 'secrets']) => {
    const metadata = { name: 'reader', namespace };
    const rules = [{ apiGroups: [''], resources, verbs: ['get', 'list', 'watch'] }];
    const at = `${rbac}/namespaces/${namespace}`;
    await admin.json('POST', `${at}/roles`, {
      body: { apiVersion: `${apiGroup}/v1`, kind: 'Role', metadata, rules },
    });
    await admin.json('POST', `${at}/rolebindings`, {
      body: {
        apiVersion: `${apiGroup}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup, kind: 'Role', name: 'reader' },
        subjects: [{ kind: 'User', apiGroup, name: 'limited' }],
      },
    });
  };
  for (const name of ['here', 'later'])
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await grant('here');
  const config = await kubeconfigConfig({ text: await server.kubeconfigFor({ name: 'limited' }) });
  const close = async () => {
    admin.close();
    await server.stop();
  };
  return { admin, config, grant, [Symbol.asyncDispose]: close };
}

test('what is in the other namespaces is reconciled, and the program is ready', async () => {
  await using world = await stage();
  const manager = await createManager({
    name: 'scoped',
    config: world.config,
    namespaces: ['here', 'gone'],
    client: { rateLimit: false },
    syncTimeout: 60_000,
  });
  const seen: string[] = [];
  manager
    .controller('cm')
    .for(configMaps)
    .owns(secrets)
    .reconcile(({ name }) => {
      seen.push(name);
      return Promise.resolve();
    });
  const stop = new AbortController();
  const running = manager.start(stop.signal);
  await world.admin.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'mine', namespace: 'here' },
  });
  await until('the ConfigMap is reconciled', () => seen.includes('mine'));
  assert.ok(manager.cache.informers.every(({ synced }) => synced));
  stop.abort();
  await running;
});

async function leftOut(world: Awaited<ReturnType<typeof stage>>, given: readonly string[]) {
  const clock = new FakeClock();
  const client = createClient(world.config, { rateLimit: false });
  const cache = new Cache(client, { namespaces: given, clock });
  cache.informer(configMaps);
  cache.informer(secrets);
  const refused = new RefusedNamespaces(client, cache, { clock, log: silent });
  const stop = new AbortController();
  const leaving = refused.leaveOut(given, stop.signal);
  let isDone = false;
  void leaving.then(() => (isDone = true));
  await until('it has decided', async () => {
    await clock.advance(1_000);
    return isDone;
  });
  return { clock, client, refused, stop };
}

test('it starts again when a namespace that was left out can be read', async () => {
  await using world = await stage();
  const { clock, client, refused, stop } = await leftOut(world, ['here', 'later']);
  let ended: unknown;
  const running = refused.run(stop.signal).catch((error: unknown) => (ended = error));
  await clock.advance(120_000);
  assert.equal(ended, undefined);
  await world.grant('later', ['secrets']);
  await until('it ends', async () => {
    await clock.advance(10_000);
    return ended !== undefined;
  });
  assert.match(String(ended), /namespace later can be read now/);
  await running;
  client.close();
});

test('where some kinds can be read, and where nothing can be read anywhere, nothing is left out', async () => {
  await using world = await stage();
  await world.grant('later', ['secrets']);
  for (const given of [
    ['here', 'later'],
    ['gone', 'away'],
  ]) {
    const { clock, client, refused, stop } = await leftOut(world, given);
    let ended = false;
    const running = refused.run(stop.signal).finally(() => (ended = true));
    await clock.advance(120_000);
    assert.equal(ended, false);
    stop.abort();
    await running;
    client.close();
  }
});
