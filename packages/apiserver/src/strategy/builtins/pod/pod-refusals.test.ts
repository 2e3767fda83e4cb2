/** Pods that Kubernetes refuses, each for one fault, in its words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { validatePodSpec } from './validate-pod-spec.ts';

const container = (fields: object): Partial<IPodSpec> => ({
  containers: [{ name: 'c', image: 'i', ...fields }],
});
const context = (fields: object) => container({ securityContext: fields });
const c0 = 'spec.containers[0]';
const fieldPath =
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]';
const volumes = [{ name: 'v', emptyDir: {} }];

const refused: readonly (readonly [string, Partial<IPodSpec>, string])[] = [
  [
    'a host port other than the container port on the network of the host',
    { hostNetwork: true, ...container({ ports: [{ containerPort: 80, hostPort: 81 }] }) },
    `${c0}.ports[0].hostPort: Invalid value: 81: must match \`containerPort\` when \`hostNetwork\` is true`,
  ],
  [
    'a sleep longer than the grace period',
    {
      terminationGracePeriodSeconds: 30,
      ...container({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    },
    `${c0}.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)`,
  ],
  [
    'a header name with a blank',
    container({
      livenessProbe: { httpGet: { path: '/', port: 80, httpHeaders: [{ name: 'a b', value: 'x' }] } },
    }),
    `${c0}.livenessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')`,
  ],
  [
    'an unknown proc mount',
    context({ procMount: 'X' }),
    `${c0}.securityContext.procMount: Unsupported value: "X": supported values: "Default", "Unmasked"`,
  ],
  [
    'a local seccomp profile without its name',
    { securityContext: { seccompProfile: { type: 'Localhost' } } },
    'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
  ],
  [
    'a name for a seccomp profile of another type',
    context({ seccompProfile: { type: 'Unconfined', localhostProfile: 'x' } }),
    `${c0}.securityContext.seccompProfile.localhostProfile: Invalid value: "x": can only be set when seccomp type is Localhost`,
  ],
  [
    'an unknown AppArmor profile',
    context({ appArmorProfile: { type: 'X' } }),
    `${c0}.securityContext.appArmorProfile.type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
  ],
  [
    'a sysctl without a name',
    { securityContext: { sysctls: [{ name: '', value: '1' }] } },
    'spec.securityContext.sysctls[0].name: Required value',
  ],
  [
    'the same sysctl twice',
    {
      securityContext: {
        sysctls: [
          { name: 'kernel.a', value: '1' },
          { name: 'kernel/a', value: '2' },
        ],
      },
    },
    'spec.securityContext.sysctls[1].name: Duplicate value: "kernel/a"',
  ],
  [
    'an unknown policy for supplemental groups',
    { securityContext: { supplementalGroupsPolicy: 'X' as 'Merge' } },
    'spec.securityContext.supplementalGroupsPolicy: Unsupported value: "X": supported values: "Merge", "Strict"',
  ],
  [
    'the PIDs of the host for users of its own',
    { hostUsers: false, hostPID: true },
    'spec.hostPID: Forbidden: when `hostUsers` is false',
  ],
  [
    'a negative size of an emptyDir',
    { volumes: [{ name: 'v', emptyDir: { sizeLimit: '-1' } }] },
    'spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity',
  ],
  [
    'a recursive read-only mount that may be written',
    {
      volumes,
      ...container({ volumeMounts: [{ name: 'v', mountPath: '/a', recursiveReadOnly: 'Enabled' }] }),
    },
    `${c0}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true`,
  ],
  [
    'a device of a volume that does not exist',
    container({ volumeDevices: [{ name: 'x', devicePath: '/dev/x' }] }),
    `${c0}.volumeDevices[0].name: Not found: "x"`,
  ],
  [
    'a device of a volume that is no claim',
    { volumes, ...container({ volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] }) },
    `${c0}.volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
  ],
  [
    'a field of a node that cannot be selected',
    nodeFields({ key: 'metadata.uid', operator: 'In', values: ['a'] }),
    `${fieldPath}.key: Invalid value: "metadata.uid": not a valid field selector key`,
  ],
  [
    'two names of a node for one field',
    nodeFields({ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }),
    `${fieldPath}.values: Required value: must be only one value when \`operator\` is 'In' or 'NotIn' for node field selector`,
  ],
  [
    'domains counted for a spread that is only preferred',
    spread({ whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2 }),
    'spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
  ],
  [
    'an unknown taints policy',
    spread({ whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: 'X' }),
    'spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "X": supported values: "Honor", "Ignore"',
  ],
  [
    'an unknown operating system',
    { os: { name: 'plan9' } },
    'spec.os.name: Unsupported value: "plan9": supported values: "linux", "windows"',
  ],
  [
    'a resize policy that does not exist',
    container({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'X' }] }),
    `${c0}.resizePolicy: Unsupported value: "X": supported values: "NotRequired", "RestartContainer"`,
  ],
  [
    'two resize policies of one resource',
    container({
      resizePolicy: [
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      ],
    }),
    `${c0}.resizePolicy[1]: Duplicate value: "cpu"`,
  ],
  [
    'two processes in charge of the namespace of processes',
    { hostPID: true, shareProcessNamespace: true },
    'spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
  ],
  [
    'an environment from nowhere',
    container({ envFrom: [{}] }),
    `${c0}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``,
  ],
  [
    'a restart policy of a container that does not exist',
    container({ restartPolicy: 'Sometimes' }),
    `${c0}.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"`,
  ],
  [
    'a policy of preemption that does not exist',
    { preemptionPolicy: 'X' as 'Never' },
    'spec.preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"',
  ],
  [
    'an environment from a ConfigMap without a name',
    container({ envFrom: [{ configMapRef: { name: '' } }] }),
    `${c0}.envFrom[0].configMapRef.name: Required value`,
  ],
  [
    'a variable from a resource that does not exist',
    variable({ resourceFieldRef: { resource: 'limits.gpu' } }),
    `${c0}.env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"`,
  ],
  [
    'a divisor that is not supported',
    variable({ resourceFieldRef: { resource: 'limits.cpu', divisor: '3' } }),
    `${c0}.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
  ],
  [
    'a DNS option without a name',
    { dnsConfig: { options: [{ value: '1' }] } },
    'spec.dnsConfig.options[0]: Required value: must not be empty',
  ],
  [
    'a search path with a blank',
    { dnsConfig: { searches: ['a b'] } },
    "spec.dnsConfig.searches[0]: Invalid value: \"a b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
  ],
  [
    'a setting of the network of the node',
    { hostNetwork: true, securityContext: { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] } },
    'spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when \'hostNetwork\' is true',
  ],
  [
    'part of a huge page',
    container({ resources: { limits: { memory: '1Gi', 'hugepages-2Mi': '3Mi' } } }),
    `${c0}.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
  ],
  [
    'huge pages without a limit',
    container({ resources: { requests: { memory: '1Gi', 'hugepages-2Mi': '4Mi' } } }),
    `${c0}.resources.limits: Required value: Limit must be set for non overcommitable resources`,
  ],
  [
    'a device that the pod does not claim',
    container({ resources: { claims: [{ name: 'gpu' }] } }),
    `${c0}.resources.claims[0]: Not found: "gpu": must be one of the names in pod.spec.resourceClaims which is empty`,
  ],
  [
    'a claim of nothing',
    { resourceClaims: [{ name: 'gpu' }] },
    'spec.resourceClaims[0]: Invalid value: {"Name":"gpu","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
  ],
  [
    'keys of labels without a selector',
    spread({ whenUnsatisfiable: 'ScheduleAnyway', labelSelector: undefined, matchLabelKeys: ['a'] }),
    'spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set',
  ],
  [
    'a value that no label of a node can have',
    nodeExpressions({ key: 'a', operator: 'In', values: ['b c'] }),
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  [
    'privilege without escalation',
    context({ privileged: true, allowPrivilegeEscalation: false }),
    `${c0}.securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
  ],
];

for (const [what, spec, message] of refused)
  test(`refuses ${what}`, () => {
    const faults = validatePodSpec({ ...container({}), ...spec } as IPodSpec, 'spec');
    assert.deepEqual(
      faults.map((fault) => `${fault.field}: ${fault.message}`),
      [message],
    );
  });

test('accepts the same fields with values that fit', () => {
  const spec: Partial<IPodSpec> = {
    hostUsers: false,
    os: { name: 'linux' },
    dnsConfig: { searches: ['.', 'cluster.local.', '_tcp.example.org'] },
    resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }],
    terminationGracePeriodSeconds: 30,
    volumes: [
      { name: 'v', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'b', persistentVolumeClaim: { claimName: 'b' } },
    ],
    securityContext: {
      seccompProfile: { type: 'RuntimeDefault' },
      sysctls: [{ name: 'net.core.somaxconn', value: '1' }],
    },
    ...container({
      lifecycle: { preStop: { sleep: { seconds: 30 } } },
      volumeMounts: [{ name: 'v', mountPath: '/a', readOnly: true, recursiveReadOnly: 'IfPossible' }],
      volumeDevices: [{ name: 'b', devicePath: '/dev/b' }],
      resources: { limits: { cpu: '1', 'hugepages-2Mi': '4Mi' }, claims: [{ name: 'gpu' }] },
      env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'requests.memory', divisor: '1Mi' } } }],
      securityContext: { allowPrivilegeEscalation: false, procMount: 'Default' },
    }),
    ...nodeFields({ key: 'metadata.name', operator: 'In', values: ['node-1'] }),
  };
  assert.deepEqual(validatePodSpec(spec as IPodSpec, 'spec'), []);
});

function nodeExpressions(requirement: object): Partial<IPodSpec> {
  const nodeSelectorTerms = [{ matchExpressions: [requirement] }];
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  } as Partial<IPodSpec>;
}

function nodeFields(requirement: object): Partial<IPodSpec> {
  const nodeSelectorTerms = [{ matchFields: [requirement] }];
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  } as Partial<IPodSpec>;
}

function spread(fields: object): Partial<IPodSpec> {
  const constraint = { maxSkew: 1, topologyKey: 'zone', labelSelector: {}, ...fields };
  return { topologySpreadConstraints: [constraint] } as Partial<IPodSpec>;
}

function variable(valueFrom: object): Partial<IPodSpec> {
  return container({ env: [{ name: 'A', valueFrom }] });
}

test('a template on the network of the host may leave its host ports out, a pod may not', () => {
  const spec = { hostNetwork: true, ...container({ ports: [{ containerPort: 80 }] }) };
  const faults = (path: string) =>
    validatePodSpec(spec as IPodSpec, path).filter(({ field }) => field.endsWith('hostPort'));
  assert.deepEqual(faults('spec.template.spec'), []);
  assert.equal(faults('spec').length, 1);
});
