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
    readonly healthCheckNodePort?: number;
    readonly ipFamilies?: readonly string[];
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

test('a port keeps its node port by its name, and two protocols of a port share one', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const ports = ['TCP', 'UDP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol }));
  const made = await call(server, 'POST', services, service('dns', { type: 'NodePort', ports }));
  const [tcp, udp] = made.body.spec.ports;
  assert.ok(tcp?.nodePort);
  assert.equal(udp?.nodePort, tcp.nodePort);
  const moved = [{ name: 'tcp', port: 5353, protocol: 'TCP' }];
  const after = await call(
    server,
    'PUT',
    `${services}/dns`,
    service('dns', { type: 'NodePort', ports: moved }),
  );
  assert.equal(after.body.spec.ports[0]?.nodePort, tcp.nodePort);
});

test('a load balancer that keeps traffic on the node has a port for health checks until it does not', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const wanted = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
  const made = await call(server, 'POST', services, service('lb', wanted));
  const port = made.body.spec.healthCheckNodePort ?? 0;
  assert.ok(port >= 30_000, String(port));
  const kept = await call(server, 'PUT', `${services}/lb`, service('lb', wanted));
  assert.equal(kept.body.spec.healthCheckNodePort, port);
  const changed = await call(server, 'PATCH', `${services}/lb`, { spec: { healthCheckNodePort: 31999 } });
  assert.match(changed.body.message ?? '', /spec.healthCheckNodePort: Forbidden: field is immutable/);
  const everywhere = await call(server, 'PATCH', `${services}/lb`, {
    spec: { externalTrafficPolicy: 'Cluster' },
  });
  assert.equal(everywhere.status, 200, JSON.stringify(everywhere.body));
  assert.equal(everywhere.body.spec.healthCheckNodePort, undefined);
});

test('faults of families are told alone, before those of ports', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const wrong = { ports: [{ port: 0 }], ipFamilies: ['IPv6'] };
  const refused = await call(server, 'POST', services, service('six', wrong));
  assert.equal(
    refused.body.message,
    'Service "six" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  );
  const headless = await call(server, 'POST', services, service('h', { clusterIP: 'None' }));
  assert.deepEqual(headless.body.spec.ipFamilies, ['IPv4', 'IPv6']);
  const selects = await call(server, 'PATCH', `${services}/h`, { spec: { selector: { a: 'b' } } });
  assert.match(selects.body.message ?? '', /this cluster is not configured for dual-stack services/);
});
