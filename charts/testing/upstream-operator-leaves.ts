/** Rows for the chart `slurm-operator`. */
import { type Leaf, type Row, row } from './upstream-leaf.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const toleration = [{ key: 'hpc', operator: 'Exists' }];
const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
const resources = { limits: { memory: '3Gi' } };

/** What both programs of the operator's chart have. */
// biome-ignore format: one row each
function program(prefix: string, deployment: string): Row[] {
  const pod = `Deployment/${deployment} spec.template.spec`;
  return [
    [`${prefix}.enabled`, false, `Deployment/${deployment}`, null, {}],
    [`${prefix}.replicas`, 3, `Deployment/${deployment} spec.replicas`],
    [`${prefix}.imagePullPolicy`, 'Always', `${pod}.containers.0.imagePullPolicy`],
    [`${prefix}.image.repository`, 'images.example/o', `${pod}.containers.0.image`, /^images.example\/o/],
    [`${prefix}.image.tag`, 't1', `${pod}.containers.0.image`, /:t1/],
    [`${prefix}.image.digest`, digest, `${pod}.containers.0.image`, new RegExp(`@${digest}$`), {}],
    [`${prefix}.serviceAccount.create`, false, `ServiceAccount/${deployment}`, null, {}],
    [`${prefix}.serviceAccount.name`, `${prefix}-of-mine`, `${pod}.serviceAccountName`],
    [`${prefix}.nodeSelector`, { a: 'b' }, `${pod}.nodeSelector.a`, 'b'],
    [`${prefix}.affinity`, affinity, `${pod}.affinity`],
    [`${prefix}.tolerations`, toleration, `${pod}.tolerations`, /"hpc"/],
    [`${prefix}.topologySpreadConstraints`, [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }], `${pod}.topologySpreadConstraints`, /"zone"/],
    [`${prefix}.podSecurityContext`, { fsGroup: 5 }, `${pod}.securityContext.fsGroup`, 5],
    [`${prefix}.securityContext`, { runAsUser: 7 }, `${pod}.containers.0.securityContext.runAsUser`, 7],
    [`${prefix}.resources`, resources, `${pod}.containers.0.resources.limits.memory`, '3Gi'],
    [`${prefix}.pdb.enabled`, false, `PodDisruptionBudget/${deployment}`, null, {}],
    [`${prefix}.pdb.minAvailable`, 2, `PodDisruptionBudget/${deployment} spec.minAvailable`],
    [`${prefix}.pdb.maxUnavailable`, 2, `PodDisruptionBudget/${deployment} spec.maxUnavailable`, 2, {}],
    [`${prefix}.logLevel`, 'debug', `${pod}.containers.0.args`, /debug/],
    [`${prefix}.healthPort`, 8181, `${pod}.containers.0.args`, /:8181/],
    [`${prefix}.metricsPort`, 8282, `${pod}.containers.0.args`, /:8282/],
    [`${prefix}.metricsSecure`, true, `${pod}.containers.0.args`, /metrics-secure/],
    [`${prefix}.leaderElection`, false, `${pod}.containers.0.args`, /^(?!.*leader-elect=true)/, { [prefix]: { replicas: 1 } }],
    [`${prefix}.namespaces`, 'team-a,team-b', `${pod}.containers.0.args`, /team-a,team-b/],
  ];
}

const workers = ['accounting', 'controller', 'loginset', 'nodeset', 'restapi', 'token', 'slurmclient'];
const webhook = 'ValidatingWebhookConfiguration webhooks.0';
const matches = [{ name: 'some', expression: 'true' }];
// biome-ignore format: one row each
const operatorRows: readonly Row[] = [
  ['nameOverride', 'other', 'Deployment/other metadata.name', 'other', {}],
  ['fullnameOverride', 'other', 'Deployment/other metadata.name', 'other', {}],
  ['namespaceOverride', 'team', 'Deployment/slurm-operator metadata.namespace', 'team', {}],
  ['imagePullSecrets', [{ name: 'pull' }], 'Deployment/slurm-operator spec.template.spec.imagePullSecrets'],
  ['imagePullPolicy', 'Never', 'Deployment/slurm-operator spec.template.spec.containers.0.imagePullPolicy', 'Never', {}],
  ['priorityClassName', 'urgent', 'Deployment/slurm-operator spec.template.spec.priorityClassName'],
  ['crds.enabled', true, 'CustomResourceDefinition/nodesets.slinky.slurm.net metadata.name', /nodesets/, {}],
  ...program('operator', 'slurm-operator'),
  ...program('webhook', 'slurm-operator-webhook'),
  ...workers.map((name): Row => [`operator.${name}Workers`, 9, 'Deployment/slurm-operator spec.template.spec.containers.0.args', new RegExp(`${name}-workers"?[=,]"?9`)]),
  ['operator.profile', true, 'Deployment/slurm-operator spec.template.spec.containers.0.args', /--profile"/],
  ['operator.profileAddr', 'localhost:7070', 'Deployment/slurm-operator spec.template.spec.containers.0.args', /localhost:7070/],
  ['webhook.podsBinding', true, 'MutatingWebhookConfiguration webhooks.0.failurePolicy', 'Fail'],
  ['webhook.timeoutSeconds', 7, `${webhook}.timeoutSeconds`],
  ['webhook.validating.failurePolicy', 'Fail', `${webhook}.failurePolicy`],
  ['webhook.validating.matchConditions', matches, `${webhook}.matchConditions`, /"some"/],
  ['webhook.validating.matchPolicy', 'Exact', `${webhook}.matchPolicy`],
  ['webhook.validating.namespaceSelector', { matchLabels: { a: 'b' } }, `${webhook}.namespaceSelector`, /"matchLabels":{"a":"b"}/, {}],
  ['webhook.mutating.failurePolicy', 'Fail', 'MutatingWebhookConfiguration webhooks.0.failurePolicy'],
  ['webhook.mutating.matchConditions', matches, 'MutatingWebhookConfiguration webhooks.0.matchConditions', /"some"/],
  ['webhook.mutating.matchPolicy', 'Exact', 'MutatingWebhookConfiguration webhooks.0.matchPolicy'],
  ['webhook.serverPort', 9555, 'Deployment/slurm-operator-webhook spec.template.spec.containers.0.args', /:9555/],
  ['certManager.enabled', true, 'Certificate spec.secretName', 'ca-of-mine'],
  ['certManager.secretName', 'ca-of-mine', 'Certificate spec.secretName'],
  ['certManager.duration', '100h', 'Certificate spec.duration'],
  ['certManager.renewBefore', '10h', 'Certificate spec.renewBefore'],
  ['propagatedNodeConditions', ['Bad'], 'Deployment/slurm-operator spec.template.spec.containers.0.args', /Bad/],
  ['extraObjects', [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-mine' } }], 'ConfigMap metadata.name', /-mine$/],
];

export const operatorLeaves: readonly Leaf[] = operatorRows.map(row);
