/**
 * What the unit tests of upstream's charts say about values that depend on each other, in our own words. A value alone is a row of
 * upstream-slurm-leaves.ts or upstream-operator-leaves.ts.
 */
import type { ValueExample } from './upstream-values.ts';

const digest = `sha256:${'b'.repeat(64)}`;
const script = '#!/bin/sh\nexit 0\n';
const gpu = { 'nvidia.com/gpu': 1 };
const dcgm = { vendor: { nvidia: { dcgm: { enabled: true } } } };
const external = { external: true, externalConfig: { host: 'elsewhere.example.com' } };

export const slurmCases: readonly ValueExample[] = [
  {
    name: 'without scripts and files nothing refers to any',
    values: { nodesets: { a: {} } },
    means: {
      ConfigMap: undefined,
      Controller: {
        spec: { prologScriptRefs: undefined, epilogScriptRefs: undefined, configFileRefs: undefined },
      },
    },
  },
  {
    name: 'scripts of the chart, of the maker of the hardware and of the user add up',
    values: {
      ...dcgm,
      prologScripts: { 'a.sh': script },
      prologScriptRefs: [{ name: 'more' }, { name: 'third' }],
      epilogScriptRefs: [{ name: 'other' }],
      prologSlurmctldScripts: { 'b.sh': script },
      prologSlurmctldScriptRefs: [{ name: 'central' }],
      epilogSlurmctldScriptRefs: [{ name: 'last' }],
    },
    means: {
      Controller: {
        spec: {
          prologScriptRefs: [
            { name: 'slurm-prolog-scripts' },
            { name: 'slurm-prolog-dcgm' },
            { name: 'more' },
            { name: 'third' },
          ],
          epilogScriptRefs: [{ name: 'slurm-epilog-dcgm' }, { name: 'other' }],
          prologSlurmctldScriptRefs: [{ name: 'slurm-prolog-slurmctld-scripts' }, { name: 'central' }],
          epilogSlurmctldScriptRefs: [{ name: 'last' }],
        },
      },
      'ConfigMap/slurm-prolog-scripts': { data: { 'prolog-a.sh': script } },
    },
  },
  {
    name: 'the directory of DCGM is mounted where GPUs are, and only there',
    values: { ...dcgm, nodesets: { cpu: {}, gpu: { slurmd: { resources: { limits: gpu } } } } },
    means: {
      'NodeSet/slurm-worker-cpu': { spec: { template: { spec: { volumes: undefined } } } },
      'NodeSet/slurm-worker-gpu': {
        spec: {
          template: { spec: { volumes: [{ hostPath: { path: '/var/lib/dcgm-exporter/job-mapping' } }] } },
        },
      },
    },
  },
  {
    name: 'all objects are in the namespace that the values name',
    values: {
      ...dcgm,
      namespaceOverride: 'team-a',
      configFiles: { 'gres.conf': 'AutoDetect=nvidia\n' },
      loginsets: { l: {} },
      restapi: { replicas: 2, pdb: { enabled: true } },
    },
    means: {
      'ConfigMap/slurm-config-extra': { metadata: { namespace: 'team-a' } },
      'ConfigMap/slurm-prolog-dcgm': { metadata: { namespace: 'team-a' } },
      'Secret/slurm-sssd-conf': { metadata: { namespace: 'team-a' } },
      PodDisruptionBudget: { metadata: { namespace: 'team-a' } },
      Controller: { metadata: { namespace: 'team-a' } },
    },
  },
  {
    name: 'the priority class of a component takes precedence over the one of the chart',
    values: {
      priorityClass: { enabled: true, create: true, name: 'all' },
      controller: { podSpec: { priorityClassName: 'own' } },
      nodesets: { a: { podSpec: { priorityClassName: 'own' } } },
      loginsets: { l: {} },
    },
    means: {
      Controller: { spec: { template: { spec: { priorityClassName: 'own' } } } },
      NodeSet: { spec: { template: { spec: { priorityClassName: 'own' } } } },
      RestApi: { spec: { template: { spec: { priorityClassName: 'all' } } } },
      LoginSet: { spec: { template: { spec: { priorityClassName: 'all' } } } },
      PriorityClass: { metadata: { name: 'all' } },
    },
  },
  {
    name: 'a key set has a name of its own',
    values: { jwksKeys: { enabled: true }, accounting: { enabled: true } },
    means: {
      Controller: { spec: { jwksKeyRef: { name: 'slurm-auth-jwks' } } },
      Accounting: { spec: { jwksKeyRef: { name: 'slurm-auth-jwks' } } },
    },
  },
  {
    name: 'no key is made where slurmctld and slurmdbd are elsewhere',
    values: {
      controller: external,
      accounting: external,
      slurmKey: { secretRef: { name: 'theirs', key: 'slurm.key' } },
      jwtKey: { secretRef: { name: 'theirs', key: 'jwt.key' } },
    },
    means: {
      Secret: undefined,
      Controller: { metadata: { annotations: undefined }, spec: { jwtKeyRef: { name: 'theirs' } } },
    },
  },
  {
    name: 'a key is made under the name and field that the values give',
    values: {
      slurmKey: { create: true, secretRef: { name: 'mine', key: 'a' } },
      jwtKey: { create: true, secretRef: { name: 'tokens', key: 'b' }, annotations: { keep: 'yes' } },
    },
    means: {
      Controller: {
        metadata: { annotations: { 'slinky.slurm.net/generate-jwt-key': '{"keep":"yes"}' } },
        spec: { slurmKeyRef: { name: 'mine', key: 'a' }, jwtKeyRef: { name: 'tokens', key: 'b' } },
      },
    },
  },
  {
    name: 'no sssd.conf without login sets and ssh',
    values: { nodesets: { a: {} } },
    means: { 'Secret/slurm-sssd-conf': undefined },
  },
  {
    name: 'an sssd.conf for workers with ssh',
    values: { nodesets: { a: { ssh: { enabled: true } } } },
    means: {
      'Secret/slurm-sssd-conf': {},
      NodeSet: { spec: { ssh: { sssdConfRef: { name: 'slurm-sssd-conf' } } } },
    },
  },
  {
    name: 'no sssd.conf where the user has one',
    values: { sssd: { secretRef: { name: 'mine', key: 'conf' } }, loginsets: { l: {} } },
    means: {
      'Secret/slurm-sssd-conf': undefined,
      LoginSet: { spec: { sssdConfRef: { name: 'mine', key: 'conf' } } },
    },
  },
  {
    name: 'partitions: by text, by map, switched off, and none',
    values: {
      nodesets: {
        text: { partition: { enabled: true, config: 'MaxTime=60', configMap: { State: 'UP' } } },
        map: { partition: { enabled: true, config: '', configMap: { State: 'UP', Default: 'NO' } } },
        off: {},
        none: { partition: null },
      },
      partitions: {
        all: { enabled: false },
        some: { enabled: true, nodesets: ['text', 'map'], configMap: { State: 'UP', MaxTime: 'UNLIMITED' } },
      },
    },
    means: {
      'NodeSet/slurm-worker-text': { spec: { partition: { enabled: true, config: 'MaxTime=60' } } },
      'NodeSet/slurm-worker-map': { spec: { partition: { enabled: true, config: 'Default=NO State=UP' } } },
      'NodeSet/slurm-worker-off': { spec: { partition: undefined } },
      'NodeSet/slurm-worker-none': { spec: { partition: undefined } },
      Controller: { spec: { extraConf: 'PartitionName=some Nodes=text,map MaxTime=UNLIMITED State=UP' } },
    },
  },
  {
    name: 'a budget of slurmrestd that allows none to be away',
    values: { restapi: { replicas: 2, pdb: { enabled: true, maxUnavailable: 0 } } },
    means: { PodDisruptionBudget: { spec: { maxUnavailable: 0, minAvailable: undefined } } },
  },
  {
    name: 'a probe of slurmctld',
    values: { controller: { slurmctld: { livenessProbe: { exec: { command: ['scontrol', 'ping'] } } } } },
    means: {
      Controller: { spec: { slurmctld: { livenessProbe: { exec: { command: ['scontrol', 'ping'] } } } } },
    },
  },
  {
    name: 'more objects, whose texts are templates',
    values: {
      extraObjects: [
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "{{ .Release.Name }}-more"\n',
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'wide' },
          rules: [],
        },
      ],
    },
    means: { 'ConfigMap/slurm-more': {}, 'ClusterRole/wide': { rules: [] } },
  },
];

const container = (part: object) => ({ spec: { template: { spec: { containers: [part] } } } });

/** A deletion never depends on the webhook, and neither does a change of metadata alone. */
const own = [{ name: 'not-being-deleted' }, { name: 'spec-is-new' }];

export const operatorCases: readonly ValueExample[] = [
  {
    name: 'an image without a tag is the one of this release, and a digest takes precedence over a tag',
    values: {
      operator: { image: { repository: 'a.example/x', tag: '' } },
      webhook: { image: { repository: 'a.example/y', tag: '1', digest } },
    },
    means: {
      'Deployment/slurm-operator': container({ image: 'a.example/x:0.1.0' }),
      'Deployment/slurm-operator-webhook': container({ image: `a.example/y@${digest}` }),
    },
  },
  {
    name: 'budgets: one available without limits, and maxUnavailable takes precedence',
    values: {
      operator: { replicas: 2, pdb: { enabled: true, minAvailable: null } },
      webhook: { replicas: 2, pdb: { enabled: true, minAvailable: 1, maxUnavailable: 0 } },
    },
    means: {
      'PodDisruptionBudget/slurm-operator': { spec: { minAvailable: 1, maxUnavailable: undefined } },
      'PodDisruptionBudget/slurm-operator-webhook': { spec: { minAvailable: undefined, maxUnavailable: 0 } },
    },
  },
  {
    name: 'no budget without its program',
    values: { operator: { enabled: false }, webhook: { enabled: false } },
    means: {
      PodDisruptionBudget: undefined,
      Deployment: undefined,
      Service: undefined,
      ClusterRoleBinding: undefined,
    },
  },
  {
    name: 'no role for readers of metrics without programs that serve them',
    values: { operator: { enabled: false, metricsSecure: true }, webhook: { enabled: false } },
    means: { 'ClusterRole/slurm-operator-metrics-reader': undefined },
  },
  {
    name: 'a right to read the metrics of the webhook alone',
    values: { webhook: { metricsPort: 8443, metricsSecure: true } },
    means: { 'ClusterRole/slurm-operator-metrics-reader': {} },
  },
  {
    name: 'the webhook is for the namespaces of the values, and a selector replaces that for the validating one only',
    values: {
      webhook: {
        namespaces: 'team-a,team-b',
        podsBinding: true,
        validating: { namespaceSelector: { matchLabels: { slurm: 'yes' } } },
      },
    },
    means: {
      ValidatingWebhookConfiguration: {
        webhooks: Array.from({ length: 6 }, () => ({ namespaceSelector: { matchLabels: { slurm: 'yes' } } })),
      },
      MutatingWebhookConfiguration: {
        webhooks: [
          {
            namespaceSelector: {
              matchExpressions: [
                { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['team-a', 'team-b'] },
              ],
            },
          },
        ],
      },
    },
  },
  {
    name: 'conditions and policies of both webhooks',
    values: {
      webhook: {
        podsBinding: true,
        timeoutSeconds: 7,
        validating: {
          failurePolicy: 'Ignore',
          matchPolicy: 'Exact',
          matchConditions: [{ name: 'a', expression: 'true' }],
        },
        mutating: {
          failurePolicy: 'Fail',
          matchPolicy: 'Exact',
          matchConditions: [{ name: 'b', expression: 'true' }],
        },
      },
    },
    means: {
      ValidatingWebhookConfiguration: {
        webhooks: Array.from({ length: 6 }, () => ({
          failurePolicy: 'Ignore',
          matchPolicy: 'Exact',
          timeoutSeconds: 7,
          matchConditions: [...own, { name: 'a' }],
        })),
      },
      MutatingWebhookConfiguration: {
        webhooks: [{ failurePolicy: 'Fail', matchPolicy: 'Exact', matchConditions: [{ name: 'b' }] }],
      },
    },
  },
  {
    name: 'accounts that exist',
    values: { operator: { serviceAccount: { create: false, name: 'mine' } }, webhook: { enabled: false } },
    means: {
      ServiceAccount: undefined,
      ClusterRoleBinding: undefined,
      Deployment: { spec: { template: { spec: { serviceAccountName: 'mine' } } } },
    },
  },
];
