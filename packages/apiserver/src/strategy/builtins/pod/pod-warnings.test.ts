/** What a client is warned of, one fault each, in the words of Kubernetes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { podWarnings } from './pod-warnings.ts';

const container = (fields: object): Partial<IPodSpec> => ({
  containers: [{ name: 'c', image: 'i', ...fields }],
});
const variables = (...values: string[]) => container({ env: values.map((value) => ({ name: 'A', value })) });
const ports = (...list: object[]) => container({ ports: list.map((port) => ({ protocol: 'TCP', ...port })) });
const selects = (term: object): Partial<IPodSpec> => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
  },
});
const zone = 'failure-domain.beta.kubernetes.io/zone';
const useZone = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead';
const hidden = 'hides previous definition of "A", which may be dropped when using apply';

const cases: readonly (readonly [string, Partial<IPodSpec>, readonly string[]])[] = [
  [
    'an old label of nodes',
    { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
    ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  [
    'an old label in an affinity',
    selects({ matchExpressions: [{ key: zone, operator: 'Exists' }] }),
    [
      `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: ${zone} is ${useZone}`,
    ],
  ],
  [
    'a spread over an old label, without a selector',
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule' }] },
    [
      `spec.topologySpreadConstraints[0].topologyKey: ${zone} is ${useZone}`,
      'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
    ],
  ],
  [
    'an address with two entries',
    { hostAliases: [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }] },
    ['spec.hostAliases[1].ip: duplicate ip "10.0.0.1"'],
  ],
  [
    'pull secrets without a name, and twice',
    { imagePullSecrets: [{ name: 'a' }, { name: 'a' }, {}] },
    [
      'spec.imagePullSecrets[1].name: duplicate name "a"',
      'spec.imagePullSecrets[2].name: invalid empty name ""',
    ],
  ],
  ['a variable that hides another', variables('1', '2'), [`spec.containers[0].env[1]: ${hidden}`]],
  ['a variable that is only itself', variables('1', '$(A)'), [`spec.containers[0].env[1]: ${hidden}`]],
  ['no variable that extends another', variables('1', '$(A):2'), []],
  [
    'a part of a byte',
    container({ resources: { requests: { memory: '100m' } } }),
    [
      'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
    ],
  ],
  [
    'a port twice',
    ports({ containerPort: 80 }, { containerPort: 80 }),
    ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
  ],
  [
    'a port with and without one of the node',
    ports({ containerPort: 80 }, { containerPort: 80, hostPort: 80 }),
    ['spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]'],
  ],
  [
    'a port of the node on one address and on all',
    ports({ containerPort: 80, hostPort: 80 }, { containerPort: 80, hostPort: 80, hostIP: '10.0.0.1' }),
    ['spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]'],
  ],
  ['no port of two protocols', ports({ containerPort: 53 }, { containerPort: 53, protocol: 'UDP' }), []],
  [
    'a negative grace period',
    { terminationGracePeriodSeconds: -1 },
    [
      'spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
    ],
  ],
];

for (const [what, spec, wanted] of cases)
  test(`warns of ${what}`, () => {
    assert.deepEqual(podWarnings({ ...container({}), ...spec } as IPodSpec, {}, ''), wanted);
  });

test('warns of annotations that mean nothing any more, in a template with its path', () => {
  const annotations = {
    'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default',
    'container.apparmor.security.beta.kubernetes.io/c': 'unconfined',
  };
  const spec = container({}) as IPodSpec;
  assert.deepEqual(podWarnings(spec, annotations, 'spec.template'), [
    'spec.template.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead',
    'spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead',
  ]);
  assert.equal(podWarnings(spec, annotations, '').length, 1);
});
