/** Webhooks beyond the recordings: through Services, several in a row, called again, across versions. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';
import { callOnce } from '../../../testing/call-once.ts';
import { type ApiServer, startApiServer } from '../../server.ts';

interface Review {
  readonly request: {
    readonly uid: string;
    readonly resource: { readonly version: string };
    readonly requestResource: { readonly version: string };
    readonly dryRun: boolean;
    readonly object: {
      readonly apiVersion: string;
      readonly data?: Record<string, string>;
      readonly metadata: { readonly labels?: Record<string, string> };
    };
  };
}
type Answer = (review: Review) => object;

interface Hooks {
  readonly server: ApiServer;
  readonly caBundle: string;
  readonly port: number;
  readonly received: { path: string; review: Review }[];
  on(path: string, answer: Answer): void;
}

async function start(t: TestContext): Promise<Hooks> {
  const server = await startApiServer();
  t.after(() => server.stop());
  const authority = await createAuthority({ name: 'ca', now: Date.now() });
  const pair = await issueServing(authority, { hosts: ['127.0.0.1', 'hook.default.svc'], now: Date.now() });
  const answers = new Map<string, Answer>();
  const received: Hooks['received'] = [];
  const hook: Server = createServer({ cert: pair.certificatePem, key: pair.keyPem }, (asked, answer) => {
    let text = '';
    asked.setEncoding('utf8');
    asked.on('data', (chunk: string) => (text += chunk));
    asked.on('end', () => {
      const review = JSON.parse(text) as Review;
      const path = (asked.url ?? '').split('?')[0] ?? '';
      received.push({ path, review });
      const response = { uid: review.request.uid, allowed: true, ...answers.get(path)?.(review) };
      answer.end(JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response }));
    });
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    hook.closeAllConnections();
    hook.close();
  });
  return {
    server,
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
    port: (hook.address() as AddressInfo).port,
    received,
    on: (path, answer) => answers.set(path, answer),
  };
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const onConfigMaps = [
  { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
];

function configure(hooks: Hooks, type: 'mutating' | 'validating', name: string, webhooks: object[]) {
  const kind = type === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
  return callOnce(
    hooks.server,
    'POST',
    `/apis/admissionregistration.k8s.io/v1/${type}webhookconfigurations`,
    {
      kind,
      metadata: { name },
      webhooks: webhooks.map((webhook) => ({
        rules: onConfigMaps,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...webhook,
      })),
    },
  );
}

const at = (hooks: Hooks, path: string) => ({
  clientConfig: { url: `https://127.0.0.1:${hooks.port}${path}`, caBundle: hooks.caBundle },
});
const patch = (...operations: object[]) => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

test('a webhook behind a Service is found through its endpoints', async (t) => {
  const hooks = await start(t);
  const clientConfig = {
    service: { namespace: 'default', name: 'hook', path: '/v' },
    caBundle: hooks.caBundle,
  };
  await configure(hooks, 'validating', 'svc', [{ name: 'svc.example.org', clientConfig }]);
  const refused = await callOnce(hooks.server, 'POST', configMaps, { metadata: { name: 'a' } });
  assert.equal(refused.status, 500);
  assert.match(
    String(refused.body['message']),
    /failed calling webhook "svc.example.org".*service "hook" not found/,
  );

  await callOnce(hooks.server, 'POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 'hook' },
    spec: { ports: [{ port: 443, targetPort: hooks.port }] },
  });
  const silent = await callOnce(hooks.server, 'POST', configMaps, { metadata: { name: 'a' } });
  assert.match(String(silent.body['message']), /no endpoints available for service "hook"/);

  await callOnce(hooks.server, 'POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 'hook-1', labels: { 'kubernetes.io/service-name': 'hook' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
    ports: [{ name: '', port: hooks.port }],
  });
  assert.equal((await callOnce(hooks.server, 'POST', configMaps, { metadata: { name: 'a' } })).status, 201);
  assert.deepEqual(
    hooks.received.map(({ path }) => path),
    ['/v'],
  );
});

test('mutating webhooks build on each other, and one that asks for it sees what came after it', async (t) => {
  const hooks = await start(t);
  const seen: Record<string, string>[] = [];
  hooks.on('/first', ({ request: { object } }) => {
    seen.push({ ...object.metadata.labels });
    return patch({ op: 'add', path: '/metadata/labels', value: { ...object.metadata.labels, first: 'yes' } });
  });
  hooks.on('/second', ({ request: { object } }) =>
    patch({ op: 'add', path: '/metadata/labels', value: { ...object.metadata.labels, second: 'yes' } }),
  );
  await configure(hooks, 'mutating', 'a', [
    { name: 'first.example.org', reinvocationPolicy: 'IfNeeded', ...at(hooks, '/first') },
  ]);
  await configure(hooks, 'mutating', 'b', [{ name: 'second.example.org', ...at(hooks, '/second') }]);
  const made = await callOnce(hooks.server, 'POST', configMaps, { metadata: { name: 'a' } });
  assert.deepEqual((made.body['metadata'] as { labels: object }).labels, { first: 'yes', second: 'yes' });
  assert.deepEqual(seen, [{}, { first: 'yes', second: 'yes' }]);
});

test('a webhook that names another version is shown the object in that version', async (t) => {
  const hooks = await start(t);
  const version = (name: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  });
  await callOnce(hooks.server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [version('v1', true), version('v1beta1', false)],
    },
  });
  const rules = [
    { operations: ['*'], apiGroups: ['example.org'], apiVersions: ['v1beta1'], resources: ['widgets'] },
  ];
  await configure(hooks, 'validating', 'old', [{ name: 'old.example.org', rules, ...at(hooks, '/old') }]);
  const widget = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: { name: 'w' } };
  const made = await callOnce(
    hooks.server,
    'POST',
    '/apis/example.org/v1/namespaces/default/widgets',
    widget,
  );
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const [{ review } = { review: undefined }] = hooks.received;
  assert.equal(review?.request.object.apiVersion, 'example.org/v1beta1');
  assert.equal(review?.request.resource.version, 'v1beta1');
  assert.equal(review?.request.requestResource.version, 'v1');
});

test('a dry run is told to webhooks; what they want noted is in the audit log', async (t) => {
  const hooks = await start(t);
  hooks.on('/v', () => ({ auditAnnotations: { why: 'because' }, warnings: ['mind the gap'] }));
  await configure(hooks, 'validating', 'v', [{ name: 'v.example.org', ...at(hooks, '/v') }]);
  const tried = await callOnce(hooks.server, 'POST', `${configMaps}?dryRun=All`, { metadata: { name: 'a' } });
  assert.equal(tried.status, 201);
  assert.equal(tried.warning, '299 - "mind the gap"');
  assert.equal(hooks.received[0]?.review.request.dryRun, true);
  const [entry] = hooks.server.audit.find({ verb: 'create', resource: 'configmaps' });
  assert.deepEqual(entry?.annotations, { 'v.example.org/why': 'because' });
});

test('a webhook configuration can always be deleted, even if its webhook denies everything', async (t) => {
  const hooks = await start(t);
  hooks.on('/no', () => ({ allowed: false }));
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }];
  await configure(hooks, 'validating', 'no', [{ name: 'no.example.org', rules, ...at(hooks, '/no') }]);
  assert.equal((await callOnce(hooks.server, 'POST', configMaps, { metadata: { name: 'a' } })).status, 400);
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/no';
  assert.equal((await callOnce(hooks.server, 'DELETE', path)).status, 200);
  assert.equal((await callOnce(hooks.server, 'POST', configMaps, { metadata: { name: 'a' } })).status, 201);
});

test('a mutating webhook hears of a delete and can refuse it', async (t) => {
  const hooks = await start(t);
  hooks.on('/keep', () => ({ allowed: false, status: { message: 'kept' } }));
  const rules = [{ operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
  await configure(hooks, 'mutating', 'keep', [{ name: 'keep.example.org', rules, ...at(hooks, '/keep') }]);
  await callOnce(hooks.server, 'POST', configMaps, { metadata: { name: 'a' } });
  const refused = await callOnce(hooks.server, 'DELETE', `${configMaps}/a`);
  assert.equal(refused.body['message'], 'admission webhook "keep.example.org" denied the request: kept');
  assert.equal((await callOnce(hooks.server, 'GET', `${configMaps}/a`)).status, 200);
});

test('limits and quotas of a namespace hold', async (t) => {
  const { server } = await start(t);
  await callOnce(server, 'POST', '/api/v1/namespaces/default/limitranges', {
    metadata: { name: 'l' },
    spec: { limits: [{ type: 'Container', default: { cpu: '1' }, max: { cpu: '2' } }] },
  });
  await callOnce(server, 'POST', '/api/v1/namespaces/default/resourcequotas', {
    metadata: { name: 'q' },
    spec: { hard: { 'requests.cpu': '2' } },
  });
  const pod = (name: string, resources: object = {}) =>
    callOnce(server, 'POST', '/api/v1/namespaces/default/pods', {
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'i:1', resources }] },
    });
  const first = await pod('a');
  const [container] = (first.body['spec'] as { containers: { resources: object }[] }).containers;
  assert.deepEqual(container?.resources, { limits: { cpu: '1' }, requests: { cpu: '1' } });
  const large = await pod('b', { limits: { cpu: '3' } });
  assert.match(String(large.body['message']), /maximum cpu usage per Container is 2, but limit is 3/);
  assert.equal((await pod('c')).status, 201);
  const third = await pod('d');
  assert.equal(third.status, 403);
  assert.equal(
    third.body['message'],
    'pods "d" is forbidden: exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=2, limited: requests.cpu=2',
  );
  const used = async () => {
    const quota = await callOnce(server, 'GET', '/api/v1/namespaces/default/resourcequotas/q');
    return quota.body['status'];
  };
  assert.deepEqual(await used(), { hard: { 'requests.cpu': '2' }, used: { 'requests.cpu': '2' } });
  await callOnce(server, 'DELETE', '/api/v1/namespaces/default/pods/a');
  assert.deepEqual(await used(), { hard: { 'requests.cpu': '2' }, used: { 'requests.cpu': '1' } });
});
