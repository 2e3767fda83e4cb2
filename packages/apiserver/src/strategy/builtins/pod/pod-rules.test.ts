import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IPod } from 'kubernetes-models/v1/Pod';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { defaultPod, defaultPodSpec } from './default-pod-spec.ts';
import { qosClass } from './pod-hooks.ts';
import { podOnlyContainerFaults } from './validate-container.ts';
import { validatePodSpec } from './validate-pod-spec.ts';
import { validatePodStatus } from './validate-pod-status.ts';
import { validatePodUpdate } from './validate-pod-update.ts';

const spec = (more: object = {}, container: object = {}): IPodSpec => ({
  containers: [{ name: 'c', image: 'img:1', ...container }],
  ...more,
});

describe('pull policy by image', () => {
  const cases: { reason: string; image: string; want: string }[] = [
    { reason: 'no tag may change', image: 'img', want: 'Always' },
    { reason: 'latest may change', image: 'host:5000/img:latest', want: 'Always' },
    { reason: 'a tag is taken at its word', image: 'host:5000/img:1', want: 'IfNotPresent' },
    { reason: 'a port of the host is no tag', image: 'host:5000/img', want: 'Always' },
    { reason: 'a digest never changes', image: 'img@sha256:00', want: 'IfNotPresent' },
  ];
  for (const { reason, image, want } of cases)
    it(`${image}: ${reason}`, () => {
      const pod = spec({}, { image });
      defaultPodSpec(pod);
      assert.equal(pod.containers[0]?.imagePullPolicy, want);
    });
});

describe('defaults', () => {
  it('a template is not given what only pods have', () => {
    const template = spec({}, { resources: { limits: { cpu: '1' } } });
    defaultPodSpec(template);
    assert.equal(template.enableServiceLinks, undefined);
    assert.equal(template.containers[0]?.resources?.requests, undefined);
  });
  it('a pod asks for what it is limited to, unless it asks for something else', () => {
    const pod = spec({}, { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } });
    defaultPod(pod);
    assert.deepEqual(pod.containers[0]?.resources?.requests, { cpu: '500m', memory: '1Gi' });
  });
  it('on the network of the host a port is the same inside and outside', () => {
    const pod = spec({ hostNetwork: true }, { ports: [{ containerPort: 80 }] });
    defaultPod(pod);
    assert.equal(pod.containers[0]?.ports?.[0]?.hostPort, 80);
  });
  it('the two names of the service account are one', () => {
    const pod = spec({ serviceAccount: 'old' });
    defaultPodSpec(pod);
    assert.equal(pod.serviceAccountName, 'old');
  });
});

describe('qosClass', () => {
  const cases: { reason: string; resources: object[]; want: string }[] = [
    { reason: 'nothing asked, nothing promised', resources: [{}], want: 'BestEffort' },
    {
      reason: 'everything limited to what is asked',
      resources: [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1000m', memory: '1024Mi' } }],
      want: 'Guaranteed',
    },
    {
      reason: 'one container without a limit spoils it',
      resources: [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } }, {}],
      want: 'Burstable',
    },
    {
      reason: 'asking for less than the limit',
      resources: [{ limits: { cpu: '2' }, requests: { cpu: '1' } }],
      want: 'Burstable',
    },
  ];
  for (const { reason, resources, want } of cases)
    it(reason, () =>
      assert.equal(
        qosClass({ containers: resources.map((one, index) => ({ name: `c${index}`, resources: one })) }),
        want,
      ),
    );
});

describe('validatePodSpec', () => {
  const cases: { reason: string; spec: IPodSpec; want: string[] }[] = [
    { reason: 'a plain pod is fine', spec: spec(), want: [] },
    {
      reason: 'a pod needs a container',
      spec: { containers: [] },
      want: ['spec.containers: Required value'],
    },
    {
      reason: 'names are unique over init and main containers',
      spec: spec({ initContainers: [{ name: 'c', image: 'i' }] }),
      want: ['spec.initContainers[0].name: Duplicate value: "c"'],
    },
    {
      reason: 'what is mounted must be there',
      spec: spec({}, { volumeMounts: [{ name: 'no', mountPath: '/x' }] }),
      want: ['spec.containers[0].volumeMounts[0].name: Not found: "no"'],
    },
    {
      reason: 'a volume has one source',
      spec: spec({ volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }] }),
      want: ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
    },
    {
      reason: 'a probe does one thing',
      spec: spec({}, { livenessProbe: {} }),
      want: ['spec.containers[0].livenessProbe: Required value: must specify a handler type'],
    },
    {
      reason: 'seconds of toleration are for evictions only',
      spec: spec({
        tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 1 }],
      }),
      want: [
        'spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
      ],
    },
    {
      reason: 'more than the limit cannot be asked for',
      spec: spec({}, { resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
      want: [
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      ],
    },
  ];
  for (const { reason, spec: tried, want } of cases)
    it(reason, () =>
      assert.deepEqual(
        validatePodSpec(tried, 'spec').map(({ field, message }) => `${field}: ${message}`),
        want,
      ),
    );
});

describe('validatePodUpdate', () => {
  const pod = (podSpec: IPodSpec) => ({ apiVersion: 'v1', kind: 'Pod', spec: podSpec }) as const;
  const old = spec({ activeDeadlineSeconds: 60, tolerations: [{ key: 'a', operator: 'Exists' }] });
  const cases: { reason: string; now: IPodSpec; want: RegExp | undefined }[] = [
    {
      reason: 'another image is fine',
      now: { ...old, containers: [{ name: 'c', image: 'img:2' }] },
      want: undefined,
    },
    { reason: 'a shorter deadline is fine', now: { ...old, activeDeadlineSeconds: 30 }, want: undefined },
    {
      reason: 'a longer one is not',
      now: { ...old, activeDeadlineSeconds: 90 },
      want: /must be less than or equal to previous value/,
    },
    {
      reason: 'tolerations may be added',
      now: {
        ...old,
        tolerations: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'Exists' },
        ],
      },
      want: undefined,
    },
    {
      reason: 'but not removed',
      now: { ...old, tolerations: [] },
      want: /existing toleration can not be modified/,
    },
    {
      reason: 'containers stay as many as they are',
      now: { ...old, containers: [...old.containers, { name: 'd', image: 'i' }] },
      want: /may not add or remove containers/,
    },
    {
      reason: 'everything else is fixed',
      now: { ...old, hostname: 'h' },
      want: /pod updates may not change fields/,
    },
  ];
  for (const { reason, now, want } of cases)
    it(reason, () => {
      const text = validatePodUpdate(pod(now), pod(old))
        .map(({ message }) => message)
        .join();
      if (want === undefined) assert.equal(text, '');
      else assert.match(text, want);
    });
});

describe('faults of what containers and pods hold', () => {
  const cases: { reason: string; pod: IPodSpec; want: string[] }[] = [
    {
      reason: 'a subPath stays below its volume',
      pod: spec(
        { volumes: [{ name: 'v', emptyDir: {} }] },
        { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '../x' }] },
      ),
      want: ['spec.containers[0].volumeMounts.subPath: Invalid value: "../x": must not contain \'..\''],
    },
    {
      reason: 'an extended resource needs its limit',
      pod: spec({}, { resources: { requests: { 'nvidia.com/gpu': '1' } } }),
      want: [
        'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
      ],
    },
    {
      reason: 'an extended resource is whole, and asked for as limited',
      pod: spec({}, { resources: { requests: { 'x.org/a': '1' }, limits: { 'x.org/a': '1500m' } } }),
      want: [
        'spec.containers[0].resources.limits[x.org/a]: Invalid value: "1500m": must be an integer',
        'spec.containers[0].resources.requests: Invalid value: "1": must be equal to x.org/a limit of 1500m',
      ],
    },
    {
      reason: 'an init container that ends has no probe',
      pod: spec({ initContainers: [{ name: 'i', image: 'i', startupProbe: { exec: { command: ['x'] } } }] }),
      want: [
        'spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
      ],
    },
    {
      reason: 'a sidecar may have one',
      pod: spec({
        initContainers: [
          { name: 'i', image: 'i', restartPolicy: 'Always', startupProbe: { exec: { command: ['x'] } } },
        ],
      }),
      want: [],
    },
    {
      reason: 'two containers cannot have one port of the node',
      pod: spec({
        containers: [0, 1].map((at) => ({
          name: `c${at}`,
          image: 'i',
          ports: [{ containerPort: 1, hostPort: 8080, protocol: 'TCP' }],
        })),
      }),
      want: ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//8080"'],
    },
    {
      reason: 'nameservers are addresses, and needed when there is no policy',
      pod: spec({ dnsPolicy: 'None', dnsConfig: { nameservers: ['x'] } }),
      want: [
        'spec.dnsConfig.nameservers[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    },
    {
      reason: 'a term of affinity has a topology',
      pod: spec({
        affinity: {
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: '' }] },
        },
      }),
      want: [
        'Required value: can not be empty',
        'Invalid value: "": name part must be non-empty',
        `Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      ].map(
        (text) =>
          `spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: ${text}`,
      ),
    },
    {
      reason: 'users are numbered from 0',
      pod: spec({ securityContext: { runAsUser: -1 } }),
      want: [
        'spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      ],
    },
  ];
  for (const { reason, pod, want } of cases)
    it(reason, () =>
      assert.deepEqual(
        validatePodSpec(pod, 'spec').map(({ field, message }) => `${field}: ${message}`),
        want,
      ),
    );
});

describe('resources of the pod as a whole', () => {
  it('ask for what the containers ask for together, else for the limit', () => {
    const pod = spec(
      { resources: { limits: { cpu: '4', memory: '1Gi' } } },
      { resources: { requests: { cpu: '500m' } } },
    );
    defaultPod(pod);
    assert.deepEqual(pod.resources?.requests, { cpu: '500m', memory: '1Gi' });
    assert.equal(qosClass(pod), 'Burstable');
  });
  it('take the place of those of the containers for the class', () => {
    const pod = spec({ resources: { limits: { cpu: '1', memory: '1Gi' } } });
    defaultPod(pod);
    assert.equal(qosClass(pod), 'Guaranteed');
  });
});

describe('a status write', () => {
  const pod = (state: object) => ({
    apiVersion: 'v1' as const,
    kind: 'Pod' as const,
    spec: spec({ restartPolicy: 'Never' }),
    status: {
      qosClass: 'BestEffort' as const,
      containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state }],
    },
  });
  it('does not start again what ended for good', () =>
    assert.deepEqual(
      validatePodStatus(pod({ running: {} }), pod({ terminated: { exitCode: 0 } })).map(({ field }) => field),
      ['status.containerStatuses[0].state'],
    ));
  it('may end what runs', () =>
    assert.deepEqual(validatePodStatus(pod({ terminated: { exitCode: 1 } }), pod({ running: {} })), []));
  it('an init container that failed may start again where it is allowed to', () => {
    const init = (state: object, restartPolicy: string) => ({
      metadata: { name: 'p' },
      spec: spec({ restartPolicy, initContainers: [{ name: 'i', image: 'i' }] }),
      status: { initContainerStatuses: [{ name: 'i', state }] },
    });
    const failures = (restartPolicy: string, exitCode: number) =>
      validatePodStatus(
        init({ running: {} }, restartPolicy) as unknown as IPod,
        init({ terminated: { exitCode } }, restartPolicy) as unknown as IPod,
      ).map(({ field }) => field);
    assert.deepEqual(failures('OnFailure', 1), []);
    assert.deepEqual(failures('OnFailure', 0), ['status.initContainerStatuses[0].state']);
    assert.deepEqual(failures('Always', 0), []);
  });
  it('has one address of each family, and its own host first', () => {
    const faults = (status: object) =>
      validatePodStatus({ status } as IPod, {} as IPod).map(({ field, message }) => `${field}: ${message}`);
    assert.deepEqual(faults({ podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }), []);
    assert.deepEqual(faults({ podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }] }), [
      'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.1"}]: may specify no more than one IP for each IP family',
      'status.podIPs[1]: Duplicate value: {"IP":"10.0.0.1"}',
    ]);
    assert.deepEqual(faults({ podIPs: [{ ip: 'x' }] }), [
      'status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ]);
    assert.deepEqual(faults({ hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] }), [
      'status.hostIPs[0].ip: Invalid value: "10.0.0.2": must be equal to `hostIP`',
    ]);
  });
});

describe('images', () => {
  it('a pod has no blanks around an image, a template may', () => {
    const wrong = spec({}, { image: ' i' });
    assert.deepEqual(
      podOnlyContainerFaults(wrong.containers, 'spec.containers').map(({ field, message }) => [
        field,
        message,
      ]),
      [['spec.containers[0].image', 'Invalid value: " i": must not have leading or trailing whitespace']],
    );
    assert.deepEqual(validatePodSpec(wrong, 'spec.template.spec'), []);
  });
});
