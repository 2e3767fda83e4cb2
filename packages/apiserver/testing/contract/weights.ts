/**
 * What it costs a user when the embedded server answers a case of the second set differently, decided when the set was recorded.
 * Cases without a weight were answered as recorded from the beginning.
 */
import type { RecordedCase } from './case.ts';

/** A: misleads an operator or its tests. B: a user of kubectl or helm sees it. C: a text, or a rare request. */
export type Weight = 'A' | 'B' | 'C';

const names: Readonly<Record<Weight, readonly string[]>> = {
  A: [
    'admission/24-condition-errors',
    'authz/17-create-through-other-verbs',
    'builtins/31-pod-level-resources',
    'builtins/33-pod-invalid-containers',
    'builtins/34-scheduling-gates',
    'builtins/35-statefulset-validation',
    'builtins/38-service-validation',
    'crd/30-default-judged-by-rules',
    'crd/33-rule-errors-at-definition',
    'crd/37-versions-own-schemas',
    'crd/39-numbers',
    'crd/44-definition-errors-more',
    'crud/53-status-by-main-path',
    'patch/22-json-patch-pointers',
  ],
  B: [
    'admission/27-limit-range',
    'admission/28-priority-class',
    'apply/41-kubectl-last-applied',
    'authz/16-access-reviews',
    'builtins/29-pod-resize',
    'builtins/32-pod-everything',
    'builtins/39-persistent-volume',
    'builtins/41-secret-types',
    'builtins/43-autoscaler',
    'builtins/50-pod-status-rules',
    'builtins/52-daemonset-and-replicaset',
    'controllers/32-claim-protection',
    'crd/42-strict-custom',
    'crd/47-scale-paths',
    'crud/44-namespace-of-body',
    'crud/52-yaml-oddities',
    'discovery/10-apiservices',
    'discovery/12-openapi-documents',
    'discovery/14-openid-and-others',
    'list-watch/29-field-selectors-other-kinds',
    'list-watch/34-table-workloads',
    'list-watch/35-table-services-and-policies',
    'list-watch/37-table-options',
    'list-watch/38-table-pod-states',
    'list-watch/42-table-config',
    'patch/23-strategic-pod-lists',
  ],
  C: [
    'admission/23-service-of-webhook-missing',
    'admission/30-pod-security-baseline',
    'admission/34-quota-of-pods',
    'apply/45-crd-atomic-and-plain',
    'authz/13-token-request',
    'builtins/45-events-core',
    'builtins/47-namespace-finalize',
    'crd/32-default-invalid',
    'crd/40-cel-library',
    'crd/45-metadata-in-schema',
    'crud/42-delete-options',
    'crud/46-unicode',
    'crud/49-bad-query-values',
    'crud/51-accept-many',
    'crud/54-generation-on-delete',
    'crud/55-resource-version-on-get',
    'crud/56-timeout-parameter',
    'list-watch/30-custom-pages',
    'patch/24-strategic-errors',
    'patch/25-merge-custom-nulls',
  ],
};

const weights = new Map(
  (['A', 'B', 'C'] as const).flatMap((weight) => names[weight].map((name) => [name, weight] as const)),
);

export function weightOf({ name }: RecordedCase): Weight | undefined {
  return weights.get(name);
}

/**
 * Recorded cases that the embedded server does not answer as a real one does, each with its weight and reason. The report
 * prints them; a case that passes again must leave the list.
 */
export interface KnownDifference {
  readonly weight: Weight;
  readonly reason: string;
}

export const knownDifferences: Readonly<Record<string, KnownDifference>> = {
  'builtins/29-pod-resize': { weight: 'B', reason: '501 (declared): pods/resize' },
  'builtins/43-autoscaler': {
    weight: 'B',
    reason: 'HorizontalPodAutoscaler: no defaults, no checks, no autoscaling/v1',
  },
  'discovery/10-apiservices': {
    weight: 'B',
    reason: '501 by name: neither the product nor its charts, kubectl or helm ask for APIServices',
  },
  'discovery/14-openid-and-others': {
    weight: 'B',
    reason: '501 by name: OpenID documents of the issuer, which only other clusters and clouds read',
  },
};
