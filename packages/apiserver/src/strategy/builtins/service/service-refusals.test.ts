/** Services that Kubernetes refuses, each for one fault, in its words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import { validateService, validateServiceUpdate } from './validate-service.ts';

const spec: IServiceSpec = {
  type: 'ClusterIP',
  sessionAffinity: 'None',
  internalTrafficPolicy: 'Cluster',
  ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }],
};

const refused: readonly (readonly [string, Partial<IServiceSpec>, string])[] = [
  [
    'a class of load balancers without one',
    { loadBalancerClass: 'example.org/lb' },
    "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ],
  [
    'node ports for a load balancer without one',
    { allocateLoadBalancerNodePorts: true },
    "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ],
  [
    'two first addresses',
    { clusterIP: '10.96.0.5', clusterIPs: ['10.96.0.6'] },
    'spec.clusterIPs: Invalid value: ["10.96.0.6"]: first value must match `clusterIP`',
  ],
  [
    'an address of the list alone',
    { clusterIPs: ['10.96.0.5'] },
    'spec.clusterIPs: Invalid value: ["10.96.0.5"]: must be empty when `clusterIP` is not specified',
  ],
  [
    'families of a name elsewhere',
    { type: 'ExternalName', externalName: 'example.org', ipFamilies: ['IPv4'] },
    'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
  ],
  [
    'a port of the nodes twice',
    {
      type: 'NodePort',
      externalTrafficPolicy: 'Cluster',
      ports: [
        { name: 'a', port: 80, protocol: 'TCP', nodePort: 30080 },
        { name: 'b', port: 81, protocol: 'TCP', nodePort: 30080 },
      ],
    },
    'spec.ports[1].nodePort: Duplicate value: 30080',
  ],
  [
    'a load balancer that keeps traffic on the node without a port to ask',
    { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
    'spec.healthCheckNodePort: Required value',
  ],
  [
    'a family twice',
    { clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv4', 'IPv4'] },
    'spec.ipFamilies[1]: Duplicate value: "IPv4"',
  ],
  [
    'two addresses of a family',
    { clusterIP: '10.96.0.5', clusterIPs: ['10.96.0.5', '10.96.0.6'] },
    'spec.clusterIPs: Invalid value: ["10.96.0.5","10.96.0.6"]: may specify no more than one IP for each IP family',
  ],
  [
    'an address beside none',
    { clusterIP: 'None', clusterIPs: ['None', '10.96.0.6'] },
    'spec.clusterIPs: Invalid value: ["None","10.96.0.6"]: \'None\' must be the first and only value',
  ],
  [
    'an address of another family',
    { clusterIP: 'fd00::5', clusterIPs: ['fd00::5'], ipFamilies: ['IPv4'] },
    'spec.clusterIPs[0]: Invalid value: "fd00::5": expected an IPv4 value as indicated by `ipFamilies[0]`',
  ],
  [
    'a distribution of traffic that does not exist',
    { trafficDistribution: 'Near' },
    'spec.trafficDistribution: Unsupported value: "Near": supported values: "PreferClose", "PreferSameNode", "PreferSameZone"',
  ],
  [
    'a protocol of the application with a blank',
    { ports: [{ port: 80, protocol: 'TCP', appProtocol: 'a b' }] },
    'spec.ports[0].appProtocol: Invalid value: "a b": name part must consist of',
  ],
];

for (const [what, fields, message] of refused)
  test(`refuses ${what}`, () => {
    const [fault, ...more] = validateService({ ...spec, ...fields });
    assert.deepEqual(more, []);
    assert.ok(`${fault?.field}: ${fault?.message}`.startsWith(message), fault?.message);
  });

test('accepts the same Service without them', () => {
  assert.deepEqual(validateService(spec), []);
});

const changes: readonly (readonly [
  string,
  Partial<IServiceSpec>,
  Partial<IServiceSpec>,
  string | undefined,
])[] = [
  [
    'another family',
    { clusterIP: '10.96.0.5', clusterIPs: ['10.96.0.5'], ipFamilies: ['IPv4'] },
    { clusterIP: '10.96.0.5', clusterIPs: ['10.96.0.5'], ipFamilies: ['IPv6'] },
    'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
  ],
  [
    'no address',
    { clusterIP: '10.96.0.5', clusterIPs: ['10.96.0.5'] },
    {},
    'spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset',
  ],
  [
    'another port for the health check',
    { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30001 },
    { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30002 },
    'spec.healthCheckNodePort: Forbidden: field is immutable',
  ],
  [
    'other families of a headless Service',
    { clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv4'] },
    { clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv6'] },
    undefined,
  ],
];

for (const [what, before, after, message] of changes)
  test(`a change to ${what} is ${message === undefined ? 'accepted' : 'refused'}`, () => {
    const faults = validateServiceUpdate({ ...spec, ...after }, { ...spec, ...before });
    assert.deepEqual(
      faults.map((fault) => `${fault.field}: ${fault.message}`),
      message === undefined ? [] : [message],
    );
  });
