/**
 * The built-in kinds the server knows a schema for: group, version, kind, the type in the generated table, and the
 * object as it is before anything was set.
 *
 * `blank` matters for field ownership: parts of a typed object that are always there (a Pod has a spec and a status
 * even before the first write) are not added by the writer who fills them, so only what is inside them is owned.
 */
import type { JsonObject } from './schema.ts';

export interface BuiltinKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly type: string;
  readonly blank: JsonObject;
}

const podTemplate: JsonObject = { metadata: {}, spec: { containers: null } };

function kind(apiVersion: string, name: string, blank: JsonObject = {}, type = `V1${name}`): BuiltinKind {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { group: group ?? '', version: version ?? '', kind: name, type, blank: { metadata: {}, ...blank } };
}

export const builtinKinds: readonly BuiltinKind[] = [
  kind('v1', 'Pod', { spec: { containers: null }, status: {} }),
  kind('v1', 'PodTemplate', { template: podTemplate }),
  kind('v1', 'Service', { spec: {}, status: { loadBalancer: {} } }),
  kind('v1', 'ConfigMap'),
  kind('v1', 'Secret'),
  kind('v1', 'Namespace', { spec: {}, status: {} }),
  kind('v1', 'Node', {
    spec: {},
    status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: blankNodeInfo() },
  }),
  kind(
    'v1',
    'Event',
    {
      involvedObject: {},
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: '',
      reportingInstance: '',
    },
    'CoreV1Event',
  ),
  kind('v1', 'PersistentVolume', { spec: {}, status: {} }),
  kind('v1', 'PersistentVolumeClaim', { spec: { resources: {} }, status: {} }),
  kind('v1', 'ServiceAccount'),
  kind('v1', 'Endpoints'),
  kind('v1', 'ResourceQuota', { spec: {}, status: {} }),
  kind('v1', 'LimitRange', { spec: { limits: null } }),
  kind('v1', 'ReplicationController', { spec: {}, status: { replicas: 0 } }),
  kind('v1', 'Binding', { target: {} }),
  kind('v1', 'DeleteOptions'),
  kind('apps/v1', 'StatefulSet', {
    spec: { selector: null, template: podTemplate, serviceName: '', updateStrategy: {} },
    status: { replicas: 0, availableReplicas: 0 },
  }),
  kind('apps/v1', 'Deployment', {
    spec: { selector: null, template: podTemplate, strategy: {} },
    status: {},
  }),
  kind('apps/v1', 'ReplicaSet', { spec: { selector: null, template: podTemplate }, status: { replicas: 0 } }),
  kind('apps/v1', 'DaemonSet', {
    spec: { selector: null, template: podTemplate, updateStrategy: {} },
    status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  }),
  kind('apps/v1', 'ControllerRevision', { data: null, revision: 0 }),
  kind('batch/v1', 'Job', { spec: { template: podTemplate }, status: {} }),
  kind('batch/v1', 'CronJob', {
    spec: { schedule: '', jobTemplate: { metadata: {}, spec: { template: podTemplate } } },
    status: {},
  }),
  kind('policy/v1', 'PodDisruptionBudget', {
    spec: {},
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  }),
  kind('policy/v1', 'Eviction'),
  kind('discovery.k8s.io/v1', 'EndpointSlice', { addressType: '', endpoints: null, ports: null }),
  kind('coordination.k8s.io/v1', 'Lease', { spec: {} }),
  kind(
    'events.k8s.io/v1',
    'Event',
    {
      eventTime: null,
      regarding: {},
      deprecatedSource: {},
      deprecatedFirstTimestamp: null,
      deprecatedLastTimestamp: null,
    },
    'EventsV1Event',
  ),
  kind('storage.k8s.io/v1', 'StorageClass', { provisioner: '' }),
  kind('scheduling.k8s.io/v1', 'PriorityClass', { value: 0 }),
  kind('networking.k8s.io/v1', 'Ingress', { spec: {}, status: { loadBalancer: {} } }),
  kind('networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: {} } }),
  kind('networking.k8s.io/v1', 'IngressClass', { spec: {} }),
  kind('rbac.authorization.k8s.io/v1', 'Role', { rules: null }),
  kind('rbac.authorization.k8s.io/v1', 'ClusterRole', { rules: null }),
  kind('rbac.authorization.k8s.io/v1', 'RoleBinding', { roleRef: { apiGroup: '', kind: '', name: '' } }),
  kind('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', {
    roleRef: { apiGroup: '', kind: '', name: '' },
  }),
  kind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'),
  kind('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'),
  kind('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', { spec: {}, status: {} }),
  kind('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', { spec: {} }),
  kind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
    spec: { group: '', names: { plural: '', kind: '' }, scope: '', versions: null },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null },
  }),
  kind('autoscaling/v1', 'Scale', { spec: {}, status: { replicas: 0 } }),
  kind(
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    {
      spec: { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 },
      status: { desiredReplicas: 0, currentMetrics: null },
    },
    'V2HorizontalPodAutoscaler',
  ),
  kind('authentication.k8s.io/v1', 'TokenReview', { spec: {}, status: { user: {} } }),
  kind(
    'authentication.k8s.io/v1',
    'TokenRequest',
    {
      spec: { audiences: null, expirationSeconds: null, boundObjectRef: null },
      status: { token: '', expirationTimestamp: null },
    },
    'AuthenticationV1TokenRequest',
  ),
  kind('authentication.k8s.io/v1', 'SelfSubjectReview', { status: { userInfo: {} } }),
  kind('authorization.k8s.io/v1', 'SubjectAccessReview', { spec: {}, status: { allowed: false } }),
  kind('authorization.k8s.io/v1', 'LocalSubjectAccessReview', { spec: {}, status: { allowed: false } }),
  kind('authorization.k8s.io/v1', 'SelfSubjectAccessReview', { spec: {}, status: { allowed: false } }),
  kind('authorization.k8s.io/v1', 'SelfSubjectRulesReview', {
    spec: {},
    status: { resourceRules: null, nonResourceRules: null, incomplete: false },
  }),
];

function blankNodeInfo(): JsonObject {
  const names = [
    'machineID',
    'systemUUID',
    'bootID',
    'kernelVersion',
    'osImage',
    'containerRuntimeVersion',
    'kubeletVersion',
    'kubeProxyVersion',
    'operatingSystem',
    'architecture',
  ];
  return Object.fromEntries(names.map((name) => [name, '']));
}
