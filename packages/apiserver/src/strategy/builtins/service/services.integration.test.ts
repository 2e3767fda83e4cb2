/** Addresses and ports of Services as clients meet them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callOnce } from '../../../../testing/call-once.ts';
import { type ApiServer, startApiServer } from '../../../server.ts';

interface Service {
  readonly message?: string;
  readonly spec: {
    readonly clusterIP?: string;
    readonly type: string;
    readonly externalTrafficPolicy?: string;
    readonly ports: readonly { readonly nodePort?: number }[];
  };
}

const call = (server: ApiServer, method: string, path: string, body?: object) =>
  callOnce<Service>(server, method, path, body);

const services = '/api/v1/namespaces/default/services';
const service = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});

test('Services made at once get different addresses, and a taken one is refused', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, index) => call(server, 'POST', services, service(`s${index}`))),
  );
  const addresses = made.map(({ body }) => body.spec.clusterIP);
  assert.equal(new Set(addresses).size, 20);
  const again = await call(server, 'POST', services, service('thief', { clusterIP: addresses[0] }));
  assert.equal(again.status, 422);
  assert.match(again.body.message ?? '', /provided IP is already allocated/);
});

test('a Service gives its node ports back when it turns inward, and gets new ones when it turns out again', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const made = await call(server, 'POST', services, service('s', { type: 'NodePort' }));
  const port = made.body.spec.ports[0]?.nodePort ?? 0;
  assert.ok(port >= 30_000 && port <= 32_767, String(port));
  const inward = await call(server, 'PATCH', `${services}/s`, { spec: { type: 'ClusterIP' } });
  assert.equal(inward.body.spec.ports[0]?.nodePort, undefined);
  assert.equal(inward.body.spec.externalTrafficPolicy, undefined);
  assert.equal(inward.body.spec.clusterIP, made.body.spec.clusterIP);
  const outward = await call(server, 'PATCH', `${services}/s`, { spec: { type: 'LoadBalancer' } });
  assert.ok(outward.body.spec.ports[0]?.nodePort);
  const name = await call(server, 'PATCH', `${services}/s`, {
    spec: { type: 'ExternalName', externalName: 'example.org', clusterIP: null, clusterIPs: null },
  });
  assert.equal(name.status, 200, JSON.stringify(name.body));
  assert.equal(name.body.spec.clusterIP, undefined);
});
