/** Service account tokens as clients meet them: made, used, bound, expired. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { callOnce } from '../../testing/call-once.ts';
import { type ApiServer, startApiServer } from '../server.ts';

const call = (server: ApiServer, method: string, path: string, body?: object, token?: string) =>
  callOnce(server, method, path, body, { token });

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const self = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

async function tokenOf(server: ApiServer, spec: object): Promise<string> {
  const made = await call(server, 'POST', `${accounts}/default/token`, { spec });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return (made.body['status'] as { token: string }).token;
}

test('a token is its account until it expires', async (t) => {
  let now = Date.UTC(2026, 0, 1);
  const server = await startApiServer({ environment: { now: () => now } });
  t.after(() => server.stop());
  const token = await tokenOf(server, { expirationSeconds: 600 });
  const me = await call(server, 'POST', self, {}, token);
  const { userInfo } = me.body['status'] as { userInfo: { username: string; groups: string[] } };
  assert.equal(userInfo.username, 'system:serviceaccount:default:default');
  assert.deepEqual(userInfo.groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:default',
    'system:authenticated',
  ]);
  now += 599_000;
  assert.equal((await call(server, 'POST', self, {}, token)).status, 201, 'a second before the end');
  now += 1000;
  assert.equal((await call(server, 'POST', self, {}, token)).status, 401, 'at the end');
});

test('a token for another audience is no key to the server, but its review says whom it is for', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const token = await tokenOf(server, { audiences: ['vault'] });
  assert.deepEqual(decodeJwt(token).aud, ['vault']);
  assert.equal((await call(server, 'POST', self, {}, token)).status, 401);
  const review = (audiences: string[]) =>
    call(server, 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token, audiences } });
  const known = (await review(['vault', 'other'])).body['status'] as Record<string, unknown>;
  assert.equal(known['authenticated'], true);
  assert.deepEqual(known['audiences'], ['vault']);
  const unknown = (await review(['other'])).body['status'] as Record<string, unknown>;
  assert.equal(unknown['authenticated'], undefined);
});

test('a token bound to a pod is invalid after the pod is deleted', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const pods = '/api/v1/namespaces/default/pods';
  await call(server, 'POST', pods, {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i:1' }] },
  });
  const token = await tokenOf(server, { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } });
  const me = await call(server, 'POST', self, {}, token);
  const { userInfo } = me.body['status'] as { userInfo: { extra: Record<string, string[]> } };
  assert.deepEqual(userInfo.extra['authentication.kubernetes.io/pod-name'], ['p']);
  await call(server, 'DELETE', `${pods}/p`);
  assert.equal((await call(server, 'POST', self, {}, token)).status, 401);
});

test('a token of another server, or one with a changed body, is refused', async (t) => {
  const [server, other] = await Promise.all([startApiServer(), startApiServer()]);
  t.after(() => Promise.all([server.stop(), other.stop()]));
  assert.equal((await call(server, 'POST', self, {}, await tokenOf(other, {}))).status, 401);
  const [head, body, signature] = (await tokenOf(server, {})).split('.');
  const claims = JSON.parse(Buffer.from(body ?? '', 'base64url').toString()) as object;
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'system:serviceaccount:kube-system:root' }));
  const token = `${head}.${forged.toString('base64url')}.${signature}`;
  assert.equal((await call(server, 'POST', self, {}, token)).status, 401);
});

test('fills a Secret of the token type, and its token is invalid after the Secret is deleted', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const secrets = '/api/v1/namespaces/default/secrets';
  const made = await call(server, 'POST', secrets, {
    metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'default' } },
    type: 'kubernetes.io/service-account-token',
  });
  const data = made.body['data'] as Record<string, string>;
  const token = Buffer.from(data['token'] ?? '', 'base64').toString();
  assert.equal(Buffer.from(data['namespace'] ?? '', 'base64').toString(), 'default');
  assert.equal((await call(server, 'POST', self, {}, token)).status, 201);
  await call(server, 'DELETE', `${secrets}/s`);
  assert.equal((await call(server, 'POST', self, {}, token)).status, 401);
});
