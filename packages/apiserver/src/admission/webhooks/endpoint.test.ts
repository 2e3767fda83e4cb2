import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../store/store.ts';
import { resolveEndpoint } from './endpoint.ts';

const slice = (...endpoints: object[]) => ({
  metadata: { labels: { 'kubernetes.io/service-name': 'hook' } },
  endpoints,
  ports: [{ name: 'webhook', port: 9443 }],
});
const ready = (address: string) => ({ addresses: [address], conditions: { ready: true } });
const gone = (address: string) => ({ addresses: [address], conditions: { ready: false } });
const storeWith = (...slices: object[]) =>
  ({
    get: () => ({ spec: { ports: [{ name: 'webhook', port: 443 }] } }),
    list: () => slices,
  }) as unknown as Store;
const service = { namespace: 'ns', name: 'hook' };

function chosen(store: Store, random: number): string | undefined {
  const resolved = resolveEndpoint(store, { service }, () => random);
  return 'endpoint' in resolved ? resolved.endpoint.address : resolved.fault;
}

test('any ready endpoint of any slice may be chosen', () => {
  const store = storeWith(slice(ready('10.0.0.1'), gone('10.0.0.2')), slice(ready('10.0.0.3')));
  assert.equal(chosen(store, 0), '10.0.0.1');
  assert.equal(chosen(store, 0.49), '10.0.0.1');
  assert.equal(chosen(store, 0.99), '10.0.0.3');
});

test('a Service without a ready endpoint is a fault', () => {
  assert.equal(chosen(storeWith(slice(gone('10.0.0.2'))), 0), 'no endpoints available for service "hook"');
});
