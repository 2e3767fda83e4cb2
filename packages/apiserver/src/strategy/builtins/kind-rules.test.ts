import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../api/types.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import { configMapHooks, secretHooks } from './config-kinds.ts';
import type { BuiltinHooks } from './define.ts';
import { disruptionBudgetHooks, disruptionBudgetStatusHooks } from './disruption-budget-kind.ts';
import { fromCoreEvent, toCoreEvent } from './event-kinds.ts';
import { limitRangeHooks } from './limit-range-kind.ts';
import { nodeHooks } from './node-kind.ts';
import { endpointSliceHooks, leaseHooks, priorityClassHooks } from './policy-kinds.ts';
import { validateService, validateServiceUpdate } from './service/validate-service.ts';
import { claimHooks, storageClassHooks, volumeHooks } from './volume-kinds.ts';
import { webhookConfigurationHooks } from './webhook-kinds.ts';
import { deploymentHooks } from './workloads/deployment.ts';
import { jobHooks } from './workloads/jobs.ts';
import { daemonSetHooks } from './workloads/other-workloads.ts';
import { statefulSetHooks } from './workloads/stateful-set.ts';

const context = { warnings: [] as string[] } as RequestContext;
const object = (content: object): KubeObject => ({ metadata: { name: 'x' }, ...content });
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const selector = { matchLabels: { a: 'b' } };
const claimTemplate = {
  metadata: { name: 'd' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

function faultsOf(hooks: BuiltinHooks, now: object, old?: object): string[] {
  const made = object(structuredClone(now));
  hooks.default?.(made);
  const before = old === undefined ? undefined : object(structuredClone(old));
  if (before) hooks.default?.(before);
  const faults = [
    ...(hooks.validate?.(made, context, before) ?? []),
    ...(before ? (hooks.validateUpdate?.(made, before, context) ?? []) : []),
  ];
  return faults.map(({ field, message }) => `${field}: ${message}`);
}

const budgetStatus = (status: object) => ({ spec: {}, status });
const condition = {
  type: 'DisruptionAllowed',
  status: 'True',
  reason: 'SufficientPods',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const cases: { reason: string; hooks: BuiltinHooks; now: object; old?: object; want: RegExp[] }[] = [
  {
    reason: 'a key of a ConfigMap is a file name',
    hooks: configMapHooks,
    now: { data: { '..': 'x' } },
    want: [/^data\[\.\.\]: Invalid value: "\.\.": must not be '\.\.'$/],
  },
  {
    reason: 'a frozen ConfigMap cannot thaw',
    hooks: configMapHooks,
    now: { data: { a: '1' } },
    old: { data: { a: '1' }, immutable: true },
    want: [/^immutable: Forbidden: field is immutable when `immutable` is set$/],
  },
  {
    reason: 'a budget allows no negative number of disruptions',
    hooks: disruptionBudgetStatusHooks,
    now: budgetStatus({ disruptionsAllowed: -1, currentHealthy: 0, desiredHealthy: 0, expectedPods: -2 }),
    want: [
      /^status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0$/,
      /^status.expectedPods: Invalid value: -2: must be greater than or equal to 0$/,
    ],
  },
  {
    reason: 'a condition of a budget is whole, and there once',
    hooks: disruptionBudgetStatusHooks,
    now: budgetStatus({
      conditions: [
        condition,
        { ...condition, status: 'Maybe', reason: 'not so', lastTransitionTime: undefined },
      ],
    }),
    want: [
      /^status.conditions\[1\].type: Duplicate value: "DisruptionAllowed"$/,
      /^status.conditions\[1\].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"$/,
      /^status.conditions\[1\].lastTransitionTime: Required value: must be set$/,
      /^status.conditions\[1\].reason: Invalid value: "not so": a condition reason must start with/,
    ],
  },
  {
    reason: 'a condition of a budget as a controller writes it',
    hooks: disruptionBudgetStatusHooks,
    now: budgetStatus({ disruptionsAllowed: 0, conditions: [condition] }),
    want: [],
  },
  {
    reason: 'a TLS secret holds both halves',
    hooks: secretHooks,
    now: { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } },
    want: [/^data\[tls.key\]: Required value$/],
  },
  {
    reason: 'the type of a secret is for life',
    hooks: secretHooks,
    now: { type: 'b' },
    old: { type: 'a' },
    want: [/^type: Invalid value: "b": field is immutable$/],
  },
  {
    reason: 'a node keeps its machine',
    hooks: nodeHooks,
    now: { spec: { providerID: 'b' } },
    old: { spec: { providerID: 'a' } },
    want: [/^spec.providerID: Forbidden/],
  },
  {
    reason: 'a node without a machine may get one',
    hooks: nodeHooks,
    now: { spec: { providerID: 'b' } },
    old: { spec: {} },
    want: [],
  },
  {
    reason: 'a selector must match its own template',
    hooks: statefulSetHooks,
    now: { spec: { selector: { matchLabels: { a: 'z' } }, template } },
    want: [
      /^spec.template.metadata.labels: Invalid value: \{"a":"b"\}: `selector` does not match template `labels`$/,
    ],
  },
  {
    reason: 'a StatefulSet may be scaled and given another template',
    hooks: statefulSetHooks,
    now: { spec: { replicas: 5, selector, template, minReadySeconds: 3 } },
    old: { spec: { replicas: 1, selector, template } },
    want: [],
  },
  {
    reason: 'its claims may not change',
    hooks: statefulSetHooks,
    now: { spec: { selector, template, volumeClaimTemplates: [claimTemplate] } },
    old: { spec: { selector, template } },
    want: [/^spec: Forbidden: updates to statefulset spec/],
  },
  {
    reason: 'a StatefulSet that waits for deletes has no rolling update',
    hooks: statefulSetHooks,
    now: {
      spec: {
        selector,
        template,
        updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 0 } },
      },
    },
    want: [
      /^spec.updateStrategy.rollingUpdate: Invalid value: .*: only allowed for updateStrategy 'RollingUpdate'$/,
    ],
  },
  {
    reason: 'the claims of a StatefulSet are checked as claims are',
    hooks: statefulSetHooks,
    now: { spec: { selector, template, volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: {} }] } },
    want: [
      /^spec.volumeClaimTemplates\[0\].spec.accessModes: Required value: at least 1 access mode is required$/,
      /^spec.volumeClaimTemplates\[0\].spec.resources\[storage\]: Required value$/,
    ],
  },
  {
    reason: 'a Deployment replaces pods in at least one way',
    hooks: deploymentHooks,
    now: { spec: { selector, template, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } } },
    want: [
      /^spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0$/,
    ],
  },
  {
    reason: 'a DaemonSet replaces pods in one way',
    hooks: daemonSetHooks,
    now: {
      spec: { selector, template, updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } },
    },
    want: [
      /^spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero$/,
    ],
  },
  {
    reason: 'a volume has one source and it stays',
    hooks: volumeHooks,
    now: {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        nfs: { server: 's', path: '/b' },
      },
    },
    old: {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        nfs: { server: 's', path: '/a' },
      },
    },
    want: [
      /^spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n/,
    ],
  },
  {
    reason: 'a Deployment that recreates has no rolling update',
    hooks: deploymentHooks,
    now: { spec: { selector, template, strategy: { type: 'Recreate', rollingUpdate: {} } } },
    want: [
      /^spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'$/,
    ],
  },
  {
    reason: 'a DaemonSet keeps its selector',
    hooks: daemonSetHooks,
    now: {
      spec: {
        selector: { matchLabels: { a: 'b', c: 'd' } },
        template: { ...template, metadata: { labels: { a: 'b', c: 'd' } } },
      },
    },
    old: { spec: { selector, template } },
    want: [/^spec.selector: Invalid value: .*: field is immutable$/],
  },
  {
    reason: 'a job does not restart always',
    hooks: jobHooks,
    now: {
      spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Always' } } },
    },
    want: [/^spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"$/],
  },
  {
    reason: 'a budget of more than everything makes no sense',
    hooks: disruptionBudgetHooks,
    now: { spec: { maxUnavailable: '110%' } },
    want: [/^spec.maxUnavailable: Invalid value: "110%": must not be greater than 100%$/],
  },
  {
    reason: 'a lease lasts some time',
    hooks: leaseHooks,
    now: { spec: { leaseDurationSeconds: 0 } },
    want: [/must be greater than 0$/],
  },
  {
    reason: 'a priority is for life',
    hooks: priorityClassHooks,
    now: { value: 2 },
    old: { value: 1 },
    want: [/^value: Forbidden: may not be changed in an update\.$/],
  },
  {
    reason: 'a slice has one kind of address',
    hooks: endpointSliceHooks,
    now: { addressType: 'Post' },
    want: [/^addressType: Unsupported value: "Post"/],
  },
  {
    reason: 'a claim asks for something',
    hooks: claimHooks,
    now: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '0' } } } },
    want: [/^spec.resources\[storage\]: Invalid value: "0": must be greater than zero$/],
  },
  {
    reason: 'the binder may name the volume of a claim, once',
    hooks: claimHooks,
    now: {
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeName: 'pv' },
    },
    old: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    want: [],
  },
  {
    reason: 'a storage class keeps its provisioner',
    hooks: storageClassHooks,
    now: { provisioner: 'b' },
    old: { provisioner: 'a' },
    want: [/^provisioner: Forbidden: updates to provisioner are forbidden\.$/],
  },
  {
    reason: 'a webhook through a Service says which',
    hooks: webhookConfigurationHooks(false, () => undefined),
    now: {
      webhooks: [
        {
          name: 'a.b.c',
          clientConfig: { service: { name: 'x' } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    },
    want: [/^webhooks\[0\]\.clientConfig\.service\.namespace: Required value/],
  },
];

describe('rules of kinds', () => {
  for (const { reason, hooks, now, old, want } of cases)
    it(reason, () => {
      const faults = faultsOf(hooks, now, old);
      assert.equal(faults.length, want.length, faults.join('\n'));
      for (const [index, pattern] of want.entries()) assert.match(faults[index] ?? '', pattern);
    });
});

describe('limit ranges', () => {
  it('what is not said follows from what is', () => {
    const range = object({
      spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' } }] },
    });
    limitRangeHooks.default?.(range);
    const { limits } = range['spec'] as { limits: Record<string, unknown>[] };
    assert.deepEqual(limits[0]?.['default'], { cpu: '2' });
    assert.deepEqual(limits[0]?.['defaultRequest'], { cpu: '2', memory: '1Mi' });
  });
});

describe('services', () => {
  it('a Service with an address keeps it', () =>
    assert.equal(
      validateServiceUpdate(
        { type: 'ClusterIP', clusterIPs: ['10.96.0.9'] },
        { type: 'ClusterIP', clusterIPs: ['10.96.0.8'] },
      )[0]?.field,
      'spec.clusterIPs[0]',
    ));
  it('two ports of one number and protocol are one too many', () =>
    assert.match(
      validateService({
        type: 'ClusterIP',
        sessionAffinity: 'None',
        ports: [
          { name: 'a', port: 1, protocol: 'TCP', targetPort: 1 },
          { name: 'b', port: 1, protocol: 'TCP', targetPort: 2 },
        ],
      })[0]?.message ?? '',
      /^Duplicate value/,
    ));
  it('the same number over TCP and UDP is fine', () =>
    assert.deepEqual(
      validateService({
        type: 'ClusterIP',
        sessionAffinity: 'None',
        ports: [
          { name: 'a', port: 1, protocol: 'TCP', targetPort: 1 },
          { name: 'b', port: 1, protocol: 'UDP', targetPort: 1 },
        ],
      }),
      [],
    ));
});

describe('events', () => {
  it('an event reads the same after going to the other group and back', () => {
    const event: KubeObject = {
      kind: 'Event',
      apiVersion: 'events.k8s.io/v1',
      metadata: { name: 'e' },
      eventTime: '2026-01-02T03:04:05.000000Z',
      regarding: { kind: 'Pod', name: 'p' },
      note: 'text',
      reportingController: 'c',
      reportingInstance: 'i',
      deprecatedSource: {},
      deprecatedFirstTimestamp: null,
    };
    assert.deepEqual(fromCoreEvent(toCoreEvent(event)), event);
    assert.equal(toCoreEvent(event)['message'], 'text');
  });
});
