import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeContainer, mergePodSpec } from './merge-template.ts';

const base = {
  name: 'slurmd',
  image: 'slurmd:1',
  args: ['-Z'],
  env: [{ name: 'A', value: '1' }],
  ports: [{ name: 'slurmd', containerPort: 6818 }],
  securityContext: { privileged: true, capabilities: { add: ['SYS_ADMIN'] } },
  readinessProbe: { httpGet: { path: '/readyz', port: 'slurmd' }, periodSeconds: 10 },
  volumeMounts: [{ name: 'etc', mountPath: '/etc/slurm', readOnly: true }],
};

test('a container takes what the user says, and keeps the rest', () => {
  const cases = [
    {
      reason: 'false is a value: a worker can be made unprivileged',
      override: { securityContext: { privileged: false } },
      expect: { securityContext: { privileged: false, capabilities: { add: ['SYS_ADMIN'] } } },
    },
    {
      reason: 'an empty list is a value: no capabilities',
      override: { securityContext: { capabilities: { add: [] } } },
      expect: { securityContext: { privileged: true, capabilities: { add: [] } } },
    },
    {
      reason: 'a probe without a handler keeps ours',
      override: { readinessProbe: { periodSeconds: 3 } },
      expect: { readinessProbe: { httpGet: { path: '/readyz', port: 'slurmd' }, periodSeconds: 3 } },
    },
    {
      reason: 'a probe with another handler has only that one',
      override: { readinessProbe: { tcpSocket: { port: 6818 } } },
      expect: { readinessProbe: { tcpSocket: { port: 6818 }, periodSeconds: 10 } },
    },
    { reason: 'arguments are added after ours', override: { args: ['-v'] }, expect: { args: ['-Z', '-v'] } },
    {
      reason: 'environment merges by name, and an entry is taken whole',
      override: {
        env: [
          { name: 'A', valueFrom: { fieldRef: { fieldPath: 'x' } } },
          { name: 'B', value: '' },
        ],
      },
      expect: {
        env: [
          { name: 'A', valueFrom: { fieldRef: { fieldPath: 'x' } } },
          { name: 'B', value: '' },
        ],
      },
    },
    {
      reason: 'ports merge by number and protocol, and TCP is the absent protocol',
      override: { ports: [{ containerPort: 6818, protocol: 'TCP' as const, hostPort: 6818 }] },
      expect: { ports: [{ name: 'slurmd', containerPort: 6818, protocol: 'TCP', hostPort: 6818 }] },
    },
    {
      reason: 'mounts merge by path',
      override: { volumeMounts: [{ mountPath: '/etc/slurm', name: 'other', readOnly: false }] },
      expect: { volumeMounts: [{ name: 'other', mountPath: '/etc/slurm', readOnly: false }] },
    },
    {
      reason: 'null takes a field away',
      override: { securityContext: null as never },
      expect: { securityContext: undefined },
    },
  ];
  for (const { reason, override, expect } of cases) {
    const { ...untouched } = base as Record<string, unknown>;
    const merged = mergeContainer(base, override) as unknown as Record<string, unknown>;
    for (const field of Object.keys(expect)) delete untouched[field];
    for (const [field, value] of Object.entries(untouched)) assert.deepEqual(merged[field], value, reason);
    for (const [field, value] of Object.entries(expect)) {
      assert.deepEqual(mergeContainer(base, override)[field as 'args'], value, reason);
    }
  }
});

test('a pod keeps our safeguards whatever the user adds', () => {
  const term = (name: string) => ({ topologyKey: name, labelSelector: { matchLabels: { app: name } } });
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const pod = {
    containers: [base],
    tolerations: [{ key: 'worker' }],
    affinity: {
      podAntiAffinity: { [required]: [term('ours')] },
      nodeAffinity: {
        [required]: {
          nodeSelectorTerms: [
            { matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: ['n1'] }] },
          ],
        },
      },
    },
    dnsConfig: { searches: ['ours'] },
    volumes: [{ name: 'etc', emptyDir: {} }],
  };
  const merged = mergePodSpec(pod, {
    tolerations: [{ key: 'gpu' }],
    affinity: {
      podAntiAffinity: { [required]: [term('theirs')] },
      nodeAffinity: {
        [required]: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['a'] }] },
            { matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['b'] }] },
          ],
        },
      },
    },
    dnsConfig: { searches: ['theirs'] },
    volumes: [{ name: 'etc', configMap: { name: 'x' } }],
    containers: [
      { name: 'slurmd', tty: true },
      { name: 'extra', image: 'x' },
    ],
  });
  assert.deepEqual(merged.tolerations, [{ key: 'worker' }, { key: 'gpu' }]);
  assert.deepEqual(merged.affinity?.podAntiAffinity?.[required], [term('ours'), term('theirs')]);
  const terms = merged.affinity?.nodeAffinity?.[required]?.nodeSelectorTerms ?? [];
  assert.equal(terms.length, 2, 'every alternative of the user is narrowed by ours');
  assert.ok(
    terms.every((each) => each.matchFields?.[0]?.values?.[0] === 'n1' && each.matchExpressions?.length === 1),
  );
  assert.deepEqual(merged.dnsConfig?.searches, ['ours', 'theirs']);
  assert.deepEqual(merged.volumes, [{ name: 'etc', configMap: { name: 'x' } }], 'a volume has one source');
  assert.deepEqual(
    merged.containers.map((container) => container.name),
    ['slurmd', 'extra'],
  );
  assert.equal(merged.containers[0]?.tty, true);
});

test('merging is idempotent for everything but arguments', () => {
  const override = fc.record(
    {
      image: fc.string(),
      tty: fc.boolean(),
      env: fc.uniqueArray(fc.record({ name: fc.constantFrom('A', 'B', 'C'), value: fc.string() }), {
        selector: (entry) => entry.name,
      }),
      workingDir: fc.constantFrom('', '/x'),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(override, (user) => {
      const once = mergeContainer(base, user);
      assert.deepEqual(mergeContainer(once, user), once);
    }),
  );
});

test('a port of the same name replaces the generated one, whatever its number', () => {
  const generated = {
    name: 'login',
    ports: [
      { name: 'login', containerPort: 22 },
      { name: 'x', containerPort: 1 },
    ],
  };
  const ports = (override: object[]) => mergeContainer(generated, { ports: override as never }).ports;
  assert.deepEqual(ports([{ name: 'login', containerPort: 2222 }]), [
    { name: 'login', containerPort: 2222 },
    { name: 'x', containerPort: 1 },
  ]);
  assert.deepEqual(ports([{ containerPort: 22, hostPort: 22 }])?.[0], {
    name: 'login',
    containerPort: 22,
    hostPort: 22,
  });
  assert.equal(ports([{ name: 'more', containerPort: 3 }])?.length, 3);
});
