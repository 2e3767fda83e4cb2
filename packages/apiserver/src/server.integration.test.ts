/** The server as clients meet it: objects made, listed, watched, patched and deleted over TLS. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ApiServer, startApiServer } from './server.ts';
import type { KubeObject } from './types.ts';

function call(server: ApiServer, method: string, path: string, body?: object, type = 'application/json') {
  return new Promise<{ status: number; body: KubeObject & { items: KubeObject[] } }>((resolve, reject) => {
    const sent = request(
      `${server.url}${path}`,
      {
        method,
        ca: server.caPem,
        cert: server.admin.certificatePem,
        key: server.admin.keyPem,
        headers: { 'content-type': type },
        agent: false,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const configMaps = '/api/v1/namespaces/default/configmaps';

test('an object lives from create to delete, and a restart keeps it', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const created = await call(server, 'POST', configMaps, { metadata: { name: 'a' }, data: { k: 'v' } });
  assert.equal(created.status, 201);
  const patched = await call(
    server,
    'PATCH',
    `${configMaps}/a`,
    { data: { k: 'w' } },
    'application/merge-patch+json',
  );
  assert.deepEqual(patched.body['data'], { k: 'w' });
  await server.restart();
  const listed = await call(server, 'GET', configMaps);
  assert.deepEqual(
    listed.body.items.map((item) => item.metadata.name),
    ['a', 'kube-root-ca.crt'],
  );
  assert.equal((await call(server, 'DELETE', `${configMaps}/a`)).status, 200);
  assert.equal((await call(server, 'GET', `${configMaps}/a`)).status, 404);
  assert.equal(server.audit.count({ verb: 'get', resource: 'configmaps', status: 404 }), 1);
});

test('a custom resource is served once its definition is stored', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  await call(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  const made = await call(server, 'POST', '/apis/example.org/v1/namespaces/default/widgets', {
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { size: 1 },
  });
  assert.equal(made.status, 201);
});

test('with a data directory state and certificates outlive the server; a saved state can be put back', async (t) => {
  const data = await mkdtemp(join(tmpdir(), 'apiserver-data-'));
  const first = await startApiServer({ data });
  await call(first, 'POST', configMaps, { metadata: { name: 'kept' } });
  await first.save(join(data, 'backup.json'));
  await call(first, 'POST', configMaps, { metadata: { name: 'later' } });
  const revision = first.store.revision;
  await first.stop();

  const second = await startApiServer({ data });
  t.after(async () => {
    await second.stop();
    await rm(data, { recursive: true, force: true });
  });
  assert.equal(second.caPem, first.caPem, 'a kubeconfig stays good');
  assert.ok(second.store.revision >= revision, 'resourceVersions go on');
  const names = async () =>
    (await call(second, 'GET', configMaps)).body.items.map((item) => item.metadata.name);
  assert.deepEqual(await names(), ['kept', 'kube-root-ca.crt', 'later']);
  await second.load(join(data, 'backup.json'));
  assert.deepEqual(await names(), ['kept', 'kube-root-ca.crt']);
  await assert.rejects(second.load(join(data, 'none.json')), /there is no snapshot/);
});

test('what is not supported is said by name, never taken in silence', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const odd = await call(
    server,
    'POST',
    configMaps,
    JSON.parse('{"metadata":{"name":"p"},"data":{"__proto__":"x"}}'),
  );
  assert.equal(odd.status, 501);
  assert.match(String(odd.body['message']), /does not support objects with a key named __proto__/);
});
