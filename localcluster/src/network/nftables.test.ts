import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice, Service } from '../objects/objects.ts';
import { renderRules } from './nftables.ts';

const service = (spec: object, status: object = {}) =>
  ({ metadata: { name: 's', namespace: 'ns', uid: 'u' }, spec, status }) as unknown as Service;
const slice = (endpoints: readonly object[], ports: readonly object[] = [{ name: '', port: 8080 }]) =>
  ({ metadata: {}, endpoints, ports }) as unknown as EndpointSlice;
const endpoint = (address: string, conditions: object = { ready: true }) => ({
  addresses: [address],
  conditions,
});
const render = (services: readonly Service[], slices: readonly EndpointSlice[]) =>
  renderRules({
    table: 'services',
    services,
    slicesOf: () => slices,
    nodeAddresses: ['10.1.254.10', '10.1.254.11'],
    podRange: '10.1.0.0/16',
  });

test('one endpoint is a plain redirection', () => {
  const rules = render(
    [service({ clusterIP: '10.1.224.5', ports: [{ port: 80 }] })],
    [slice([endpoint('10.1.0.2')])],
  );
  assert.match(rules, /ip daddr 10\.1\.224\.5 tcp dport 80 goto service-0/);
  assert.match(rules, /meta l4proto tcp dnat to 10\.1\.0\.2:8080/);
});

test('several endpoints take turns by chance, or by client when the Service asks for it', () => {
  const two = [slice([endpoint('10.1.0.2'), endpoint('10.1.1.2')])];
  const spec = { clusterIP: '10.1.224.5', ports: [{ port: 80 }] };
  assert.match(
    render([service(spec)], two),
    /dnat to numgen random mod 2 map \{ 0 : 10\.1\.0\.2 \. 8080, 1 : 10\.1\.1\.2 \. 8080 \}/,
  );
  assert.match(
    render([service({ ...spec, sessionAffinity: 'ClientIP' })], two),
    /dnat to jhash ip saddr mod 2 map/,
  );
});

test('a Service without ready endpoints refuses new connections; one whose last pods are ending still serves', () => {
  const spec = { clusterIP: '10.1.224.5', ports: [{ port: 80 }] };
  const waiting = [slice([endpoint('10.1.0.2', { ready: false, serving: false })])];
  const refusing = render([service(spec)], waiting);
  assert.match(refusing, /chain refused \{\n {4}ip daddr 10\.1\.224\.5 tcp dport 80 reject\n {2}\}/);
  assert.equal(
    refusing.match(/ct state new jump refused/g)?.length,
    2,
    "from outside and from the machine's own",
  );
  assert.doesNotMatch(refusing, /dnat to/);
  const ending = [slice([endpoint('10.1.0.2', { ready: false, serving: true, terminating: true })])];
  assert.match(render([service(spec)], ending), /dnat to 10\.1\.0\.2:8080/);
});

test('node ports and ingress addresses lead to the same endpoints', () => {
  const rules = render(
    [
      service(
        { type: 'LoadBalancer', clusterIP: '10.1.224.5', ports: [{ port: 80, nodePort: 30_001 }] },
        { loadBalancer: { ingress: [{ ip: '10.1.250.1' }] } },
      ),
    ],
    [slice([endpoint('10.1.0.2')])],
  );
  assert.match(rules, /ip daddr 10\.1\.250\.1 tcp dport 80 goto/);
  assert.match(rules, /ip daddr \{ 10\.1\.254\.10, 10\.1\.254\.11 \} tcp dport 30001 goto/);
});

test('a pod that reaches itself is masked, so that it does not answer itself directly', () => {
  const rules = render(
    [service({ clusterIP: '10.1.224.5', ports: [{ port: 80 }] })],
    [slice([endpoint('10.1.0.2')])],
  );
  assert.match(rules, /ip saddr 10\.1\.0\.2 meta mark set meta mark or 0x4000/);
  assert.match(rules, /meta mark and 0x4000 != 0 masquerade/);
});

test('headless Services have no rules, and the whole table is replaced at once', () => {
  const rules = render(
    [service({ clusterIP: 'None', ports: [{ port: 80 }] })],
    [slice([endpoint('10.1.0.2')])],
  );
  assert.doesNotMatch(rules, /dport 80/);
  assert.match(rules, /^table ip services\ndelete table ip services\ntable ip services \{/);
});
