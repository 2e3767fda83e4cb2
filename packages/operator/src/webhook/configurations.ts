/** The webhook configurations. Charts and the plain YAML are generated from this. */
import { group, version } from '@slurm-operator/api';

export interface WebhookPlace {
  /** Of both configurations. */
  readonly name: string;
  readonly service: { readonly name: string; readonly namespace: string };
}

const plurals = {
  Controller: 'controllers',
  Accounting: 'accountings',
  LoginSet: 'loginsets',
  NodeSet: 'nodesets',
  RestApi: 'restapis',
  Token: 'tokens',
} as const;

/**
 * Only a new spec is reviewed: while the webhook is down, finalizers can still be removed and objects deleted,
 * so that nothing gets stuck.
 */
export const reviewConditions = [
  { name: 'not-being-deleted', expression: '!has(object.metadata.deletionTimestamp)' },
  { name: 'spec-is-new', expression: 'oldObject == null || object.spec != oldObject.spec' },
] as const;

/** Namespaces of Kubernetes itself hold no Slurm, and must never wait for us. */
const notOfKubernetes = {
  matchExpressions: [
    {
      key: 'kubernetes.io/metadata.name',
      operator: 'NotIn',
      values: ['kube-system', 'kube-public', 'kube-node-lease'],
    },
  ],
};

export function validatingConfiguration({ name, service }: WebhookPlace) {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: reviewedKinds.map((kind) => ({
      name: webhookName(kind),
      admissionReviewVersions: ['v1'],
      clientConfig: { service: { ...service, path: validatePath(kind), port: 443 } },
      rules: [
        {
          apiGroups: [group],
          apiVersions: [version],
          operations: ['CREATE', 'UPDATE'],
          // Scaling a NodeSet is answered with a warning.
          resources: kind === 'NodeSet' ? [plurals[kind], `${plurals[kind]}/scale`] : [plurals[kind]],
          scope: 'Namespaced',
        },
      ],
      matchConditions: reviewConditions,
      matchPolicy: 'Equivalent',
      namespaceSelector: notOfKubernetes,
      // The controllers apply the same rules to what is stored: a request never depends on the webhook.
      failurePolicy: 'Ignore',
      sideEffects: 'None',
      // An endpoint on a node that lost power is silent. An edit may meet it twice, if the object changed meanwhile.
      timeoutSeconds: 2,
    })),
  };
}

/** Off unless a user applies it. A Binding has no labels of its pod, so the webhook itself looks for workers. */
export function mutatingConfiguration({ name, service }: WebhookPlace) {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: bindingName,
        admissionReviewVersions: ['v1'],
        clientConfig: { service: { ...service, path: bindingPath, port: 443 } },
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['pods/binding'],
            scope: 'Namespaced',
          },
        ],
        matchPolicy: 'Equivalent',
        namespaceSelector: {
          matchExpressions: [
            {
              ...notOfKubernetes.matchExpressions[0],
              values: [...(notOfKubernetes.matchExpressions[0]?.values ?? []), service.namespace],
            },
          ],
        },
        failurePolicy: 'Ignore',
        sideEffects: 'NoneOnDryRun',
        reinvocationPolicy: 'Never',
        timeoutSeconds: 2,
      },
    ],
  };
}

/** Where each kind is reviewed. Paths and names are upstream's, so that configurations written for it keep working. */
export const reviewedKinds = ['Controller', 'Accounting', 'LoginSet', 'NodeSet', 'RestApi', 'Token'] as const;
export type ReviewedKind = (typeof reviewedKinds)[number];

export const validatePath = (kind: ReviewedKind): string =>
  `/validate-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`;

export const webhookName = (kind: ReviewedKind): string => `${kind.toLowerCase()}-${version}.kb.io`;

export const bindingPath = '/mutate--v1-binding';
export const bindingName = 'podsbinding-v1.kb.io';
