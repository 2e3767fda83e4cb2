/** Everything that an installation without helm applies, in order: one file. */
import { clusterNamePolicy, customResourceDefinition, kinds } from '@slurm-operator/api';
import { stringify } from 'yaml';
import { grantObjects, personRole } from '../src/rbac/objects.ts';
import {
  certificateClusterRules,
  certificateNamespaceRules,
  leaseRules,
  managerClusterRules,
  managerNamespaceRules,
  peopleRules,
  replicaRules,
  webhookClusterRules,
  webhookNamespaceRules,
} from '../src/rbac/rules.ts';
import { validatingConfiguration } from '../src/webhook/configurations.ts';

const namespace = 'slinky';
const operator = 'slurm-operator';
const webhook = 'slurm-operator-webhook';
const secret = 'slurm-operator-webhook-certs';

const labels = (name: string) => ({ 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': operator });
const account = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace, labels: labels(name) },
});

interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly ports: Readonly<Record<string, number>>;
  readonly memory: string;
}

const nodeLossTaints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

const probe = (path: string, periodSeconds: number) => ({
  httpGet: { path, port: 'health' },
  periodSeconds,
  timeoutSeconds: 5,
});

function deployment({ name, command, args, ports, memory }: Program, image: string): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels: labels(name) },
    spec: {
      replicas: 2,
      revisionHistoryLimit: 2,
      selector: { matchLabels: { 'app.kubernetes.io/name': name } },
      template: {
        metadata: { labels: labels(name) },
        spec: {
          serviceAccountName: name,
          tolerations: nodeLossTaints.map((key) => ({
            key,
            operator: 'Exists',
            effect: 'NoExecute',
            tolerationSeconds: 30,
          })),
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: { 'app.kubernetes.io/name': name } },
              matchLabelKeys: ['pod-template-hash'],
            },
          ],
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: command.slice(1),
              image,
              command: [command],
              args,
              env: Object.entries({
                POD_NAMESPACE: 'metadata.namespace',
                POD_NAME: 'metadata.name',
                NODE_NAME: 'spec.nodeName',
              }).map(([variable, fieldPath]) => ({ name: variable, valueFrom: { fieldRef: { fieldPath } } })),
              ports: Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort })),
              livenessProbe: probe('/healthz', 20),
              readinessProbe: probe('/readyz', 5),
              resources: { requests: { cpu: '50m', memory }, limits: { memory: '1Gi' } },
              securityContext: {
                runAsNonRoot: true,
                runAsUser: 65_532,
                readOnlyRootFilesystem: true,
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  };
}

/** Keeps one replica through a drain; one that is not ready protects nothing and may always be evicted. */
function budget(name: string): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace, labels: labels(name) },
    spec: {
      minAvailable: 1,
      selector: { matchLabels: { 'app.kubernetes.io/name': name } },
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  };
}

function service(name: string, ports: Readonly<Record<string, readonly [number, string]>>): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: labels(name) },
    spec: {
      selector: { 'app.kubernetes.io/name': name },
      ports: Object.entries(ports).map(([port, [number, targetPort]]) => ({
        name: port,
        port: number,
        targetPort,
      })),
    },
  };
}

const workers = ['accounting', 'controller', 'loginset', 'nodeset', 'restapi', 'token'].map(
  (kind) => `--${kind}-workers=4`,
);

export function installObjects(image: string): object[] {
  const places = { name: webhook, service: { name: webhook, namespace } };
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: namespace,
        // Both programs keep to the strictest profile; Slurm's workers need another one, in another namespace.
        labels: {
          'pod-security.kubernetes.io/enforce': 'restricted',
          'pod-security.kubernetes.io/audit': 'restricted',
          'pod-security.kubernetes.io/warn': 'restricted',
        },
      },
    },
    ...kinds.map((kind) => customResourceDefinition(kind)),
    ...clusterNamePolicy,
    account(operator),
    account(webhook),
    ...grantObjects({ name: operator, namespace }, [
      { name: operator, rules: [...managerClusterRules, ...managerNamespaceRules] },
      { name: operator, rules: leaseRules, namespace },
    ]),
    ...grantObjects({ name: webhook, namespace }, [
      {
        name: webhook,
        rules: [
          ...webhookNamespaceRules,
          ...webhookClusterRules,
          ...certificateClusterRules({ validating: webhook }),
        ],
      },
      { name: webhook, rules: [...certificateNamespaceRules({ secret }), ...replicaRules], namespace },
    ]),
    ...(['viewer', 'user', 'admin'] as const).map((person) =>
      personRole(operator, person, peopleRules[person]),
    ),
    deployment(
      {
        name: operator,
        command: '/manager',
        args: ['--leader-elect', '--slurmclient-workers=2', ...workers],
        ports: { metrics: 8080, health: 8081 },
        memory: '128Mi',
      },
      image,
    ),
    budget(operator),
    service(operator, { metrics: [8080, 'metrics'], health: [8081, 'health'] }),
    deployment(
      {
        name: webhook,
        command: '/webhook',
        args: [
          `--cert-secret=${secret}`,
          `--service-name=${webhook}`,
          `--validating-configuration=${webhook}`,
        ],
        ports: { webhook: 9443, health: 8081 },
        memory: '96Mi',
      },
      image,
    ),
    budget(webhook),
    service(webhook, { webhook: [443, 'webhook'] }),
    validatingConfiguration(places),
  ];
}

export function installFile(image: string): string {
  const documents = installObjects(image).map((object) =>
    stringify(object, { version: '1.1', aliasDuplicateObjects: false, lineWidth: 0 }),
  );
  return `# slurm-operator without helm: kubectl apply --server-side -f slurm-operator.yaml
# Generated by \`make generate\`; do not edit.
---
${documents.join('---\n')}`;
}
