/** The server as clients meet it: objects made, listed, watched, patched and deleted over TLS. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { callOnce } from '../testing/call-once.ts';
import type { KubeObject } from './api/types.ts';
import { type ApiServer, startApiServer } from './server.ts';

const call = (server: ApiServer, method: string, path: string, body?: object, type = 'application/json') =>
  callOnce<KubeObject & { items: KubeObject[] }>(server, method, path, body, { type });

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
  await call(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets());
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

/** What a real server does and this one does not, and the words by which it says so. */
const unsupported: readonly (readonly [named: RegExp, method: string, path: string, body?: object])[] = [
  [
    /objects with a key named __proto__/,
    'POST',
    configMaps,
    JSON.parse('{"metadata":{"name":"p"},"data":{"__proto__":"x"}}') as object,
  ],
  [/the proxy of pods/, 'GET', '/api/v1/namespaces/default/pods/p/proxy'],
  [/nodes\/proxy of v1/, 'GET', '/api/v1/nodes/n/proxy'],
  [/services\/proxy of v1/, 'GET', '/api/v1/namespaces/default/services/s/proxy'],
  [/ephemeral containers/, 'PATCH', '/api/v1/namespaces/default/pods/p/ephemeralcontainers', {}],
  [/resizing pods in place/, 'PATCH', '/api/v1/namespaces/default/pods/p/resize', {}],
  [/componentstatuses of v1/, 'GET', '/api/v1/componentstatuses'],
  [/flowschemas of flowcontrol/, 'GET', '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'],
  [
    /certificatesigningrequests of certificates/,
    'GET',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  ],
  [/resourceclaims of resource/, 'GET', '/apis/resource.k8s.io/v1/resourceclaims'],
  [/csidrivers of storage/, 'POST', '/apis/storage.k8s.io/v1/csidrivers', { metadata: { name: 'd' } }],
  [/runtimeclasses of node/, 'POST', '/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'r' } }],
  [/apiservices of apiregistration/, 'GET', '/apis/apiregistration.k8s.io/v1/apiservices'],
  [/mutatingadmissionpolicies of/, 'GET', '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies'],
  [/support \/metrics$/, 'GET', '/metrics'],
  [/support \/openid\/v1\/jwks$/, 'GET', '/openid/v1/jwks'],
  [
    /scopes of resource quotas/,
    'POST',
    '/api/v1/namespaces/default/resourcequotas',
    { metadata: { name: 'q' }, spec: { hard: { pods: '1' }, scopes: ['BestEffort'] } },
  ],
  [
    /conversion webhooks of custom resources/,
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    widgets({
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.org' } },
    }),
  ],
  [
    /webhooks for CONNECT/,
    'POST',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    {
      metadata: { name: 'w' },
      webhooks: [
        {
          name: 'exec.example.org',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { url: 'https://example.org' },
          rules: [
            { operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec'] },
          ],
        },
      ],
    },
  ],
  [
    /parameters of admission policies/,
    'POST',
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    { metadata: { name: 'p' }, spec: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } },
  ],
  [
    /the action Audit of admission policies/,
    'POST',
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Audit'] } },
  ],
];

test('what is not supported is 501 by name, never taken in silence', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  await call(server, 'POST', '/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  const before = server.store.revision;
  for (const [named, method, path, body] of unsupported) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const answer = await call(server, method, path, body, type);
    assert.equal(answer.status, 501, `${method} ${path}`);
    assert.match(String(answer.body['message']), /^the embedded API server does not support /);
    assert.match(String(answer.body['message']), named);
  }
  assert.equal(server.store.revision, before, 'nothing was stored');
});

function widgets(conversion?: object): object {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    metadata: { name: 'widgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      ...(conversion === undefined ? {} : { conversion }),
    },
  };
}
