/** Malformed requests: each gets a response, and the server continues. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { Caller } from '../../testing/contract/backend.ts';
import { callerOf } from '../../testing/serve-caller.ts';
import { type ApiServer, startApiServer } from '../server.ts';

let server: ApiServer;
let caller: Caller;
before(async () => {
  server = await startApiServer();
  caller = callerOf(server);
});
after(async () => {
  caller.close();
  await server.stop();
});

const segment = fc.constantFrom(
  'api',
  'apis',
  'v1',
  'apps',
  'namespaces',
  'default',
  'pods',
  'configmaps',
  'deployments',
  'a',
  'status',
  'scale',
  'binding',
  '%zz',
  '..',
  '',
);
/** Mostly places that exist, so that bodies are looked at. */
const place = fc.oneof(
  { weight: 1, arbitrary: fc.array(segment, { maxLength: 7 }).map((segments) => `/${segments.join('/')}`) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          '/api/v1/namespaces/default/configmaps',
          '/api/v1/namespaces/default/pods',
          '/api/v1/namespaces/default/services',
          '/api/v1/namespaces',
          '/api/v1/nodes',
          '/apis/apps/v1/namespaces/default/deployments',
          '/apis/apps/v1/namespaces/default/statefulsets',
          '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
          '/apis/coordination.k8s.io/v1/namespaces/default/leases',
          '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
          '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
          '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
          '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          '/apis/authentication.k8s.io/v1/tokenreviews',
        ),
        fc.constantFrom(
          '',
          '/a',
          '/kube-root-ca.crt',
          '/a/status',
          '/a/scale',
          '/a/eviction',
          '/a/binding',
          '/default/token',
        ),
      )
      .map((parts) => parts.join('')),
  },
);
const query = fc.constantFrom(
  '',
  '?limit=-1',
  '?limit=x&continue=%00',
  '?labelSelector=%28',
  '?fieldSelector=%5C',
  '?watch=true&timeoutSeconds=1&resourceVersion=0',
  '?dryRun=All&fieldManager=%00',
  '?resourceVersion=99999999999999999999&watch=true&timeoutSeconds=1',
);
const body = fc.oneof(
  fc.constantFrom(
    '',
    '{',
    '[]',
    'null',
    '"x"',
    '{"metadata":null}',
    '{"metadata":{"name":5}}',
    '{"spec":[]}',
  ),
  fc.json({ maxDepth: 3 }),
  // Objects with the right keys and the wrong values.
  fc
    .dictionary(
      fc.constantFrom(
        'metadata',
        'spec',
        'status',
        'data',
        'rules',
        'webhooks',
        'subjects',
        'roleRef',
        'target',
        'kind',
      ),
      fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.dictionary(
          fc.constantFrom(
            'name',
            'labels',
            'finalizers',
            'ownerReferences',
            'containers',
            'template',
            'ports',
            'selector',
            'versions',
            'names',
            'group',
          ),
          fc.jsonValue({ maxDepth: 3 }),
          { maxKeys: 4 },
        ),
      ),
      { maxKeys: 4 },
    )
    .map((value) => JSON.stringify(value)),
);
const type = fc.constantFrom(
  'application/json',
  'application/yaml',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
  'x',
);

test('any request gets an answer with a meaning, and none is the last', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
      place,
      query,
      type,
      body,
      async (method, where, asked, contentType, text) => {
        const path = `${where}${asked}`;
        const headers = { 'content-type': contentType };
        const withBody = method === 'GET' || method === 'HEAD' ? {} : { body: text, headers };
        const answer = await caller.call({ method, path, ...withBody });
        assert.ok(answer.status >= 200 && answer.status < 600, `${method} ${path} answered ${answer.status}`);
        if (answer.status === 500 && method !== 'HEAD') {
          const said = (JSON.parse(answer.text) as { message: string }).message;
          assert.doesNotMatch(
            said,
            /undefined|is not a function|Cannot read|is not iterable/,
            `${method} ${path} ${text}`,
          );
        }
      },
    ),
    { numRuns: 250 },
  );
  assert.equal((await caller.call({ method: 'GET', path: '/readyz' })).status, 200);
});

test('a warning may hold any character', async () => {
  const answer = await caller.call({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    body: { metadata: { name: 'odd' }, 'ünknown ☃\n': 1 },
  });
  assert.equal(answer.status, 201);
  const [warning = ''] = answer.headers['warning'] ?? [];
  assert.equal(Buffer.from(warning, 'latin1').toString('utf8'), '299 - "unknown field \\"ünknown ☃ \\""');
});
