/** NetworkPolicies and Ingresses that Kubernetes refuses, each for one fault, in its words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestContext } from '../../resource/request-context.ts';
import type { BuiltinHooks } from './define.ts';
import { ingressHooks } from './ingress-kind.ts';
import { networkPolicyHooks } from './network-policy-kind.ts';

const faultsOf = ({ validate }: BuiltinHooks, spec: object): string[] =>
  (validate?.({ metadata: { name: 'x' }, spec }, {} as RequestContext, undefined) ?? []).map(
    ({ field, message }) => `${field}: ${message}`,
  );

const from = (...peers: object[]) => ({ podSelector: {}, ingress: [{ from: peers }] });
const ports = (...list: object[]) => ({ podSelector: {}, ingress: [{ ports: list }] });
const CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
const RANGE = 'must be between 1 and 65535, inclusive';

const policies: readonly (readonly [string, object, string])[] = [
  ['no peer', from({}), 'spec.ingress[0].from[0]: Required value: must specify a peer'],
  [
    'a block of addresses beside a selector',
    from({ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }),
    'spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer',
  ],
  [
    'a block that is none',
    from({ ipBlock: { cidr: '10.0.0.0' } }),
    `spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.0": ${CIDR}`,
  ],
  ['port 0', ports({ port: 0 }), `spec.ingress[0].ports[0].port: Invalid value: 0: ${RANGE}`],
  [
    'a range that ends before it begins',
    ports({ port: 80, endPort: 79 }),
    'spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`',
  ],
  [
    'a range of a named port',
    ports({ port: 'http', endPort: 90 }),
    'spec.ingress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` is non-numeric',
  ],
  [
    'an unknown direction',
    { podSelector: {}, policyTypes: ['In'] },
    'spec.policyTypes[0]: Unsupported value: "In": supported values: "Egress", "Ingress"',
  ],
];
for (const [what, spec, message] of policies)
  test(`a NetworkPolicy with ${what} is refused`, () =>
    assert.deepEqual(faultsOf(networkPolicyHooks, spec), [message]));

test('a NetworkPolicy is about what it has rules for, and about TCP', () => {
  const made = { metadata: { name: 'x' }, spec: { podSelector: {}, egress: [{ ports: [{ port: 53 }] }] } };
  networkPolicyHooks.default?.(made);
  assert.deepEqual(made.spec, {
    podSelector: {},
    egress: [{ ports: [{ port: 53, protocol: 'TCP' }] }],
    policyTypes: ['Ingress', 'Egress'],
  });
});

const backend = { service: { name: 's', port: { number: 80 } } };
const path = (fields: object) => ({
  rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend, ...fields }] } }],
});
const at = 'spec.rules[0].http.paths[0]';
const ingresses: readonly (readonly [string, object, string])[] = [
  ['nothing to do', {}, 'spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
  [
    'an address as host',
    { rules: [{ host: '10.0.0.1' }] },
    'spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
  ],
  [
    'a path without its type',
    path({ pathType: undefined }),
    `${at}.pathType: Required value: pathType must be specified`,
  ],
  ['a relative path', path({ path: 'a' }), `${at}.path: Invalid value: "a": must be an absolute path`],
  ['an empty step', path({ path: '/a//b' }), `${at}.path: Invalid value: "/a//b": must not contain '//'`],
  [
    'no backend',
    path({ backend: {} }),
    `${at}.backend: Invalid value: "": resource or service backend is required`,
  ],
  [
    'a Service without a port',
    path({ backend: { service: { name: 's' } } }),
    `${at}.backend: Required value: port name or number is required`,
  ],
];
for (const [what, spec, message] of ingresses)
  test(`an Ingress with ${what} is refused`, () => assert.deepEqual(faultsOf(ingressHooks, spec), [message]));

test('an Ingress with a star, a name of a port and TLS is accepted', () =>
  assert.deepEqual(
    faultsOf(ingressHooks, {
      rules: [
        {
          host: '*.example.org',
          http: {
            paths: [
              {
                pathType: 'ImplementationSpecific',
                backend: { service: { name: 's', port: { name: 'http' } } },
              },
            ],
          },
        },
      ],
      tls: [{ hosts: ['*.example.org'], secretName: 's' }],
      ingressClassName: 'nginx',
    }),
    [],
  ));
