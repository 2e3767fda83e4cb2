/** Whether a webhook wants to hear of a request: rules and selectors, no I/O. */

import { type LabelSelector, selectorMatches } from '@slurm-operator/kubernetes-values';
import type { KubeObject } from '../../api/types.ts';
import type { ResourceDefinition } from '../../resource/resource-definition.ts';
import type { RuleWithOperations } from '../admission-rules.ts';
import type { AdmissionAttributes } from '../plugin.ts';

export type WebhookRule = RuleWithOperations;

export interface Matching {
  readonly rules: readonly WebhookRule[];
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
}

/** Configurations of admission are never sent to admission, so that a broken one can always be deleted. */
const EXEMPT = new Set([
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
]);

export function isExempt({ group, plural }: ResourceDefinition): boolean {
  return group === 'admissionregistration.k8s.io' && EXEMPT.has(plural);
}

/**
 * The version of the resource the rules ask for: the one of the request if a rule names it, else (matchPolicy
 * Equivalent) another version of the same resource that a rule names; `undefined` when no rule fits.
 */
export function matchedDefinition(
  matching: Matching,
  attributes: AdmissionAttributes,
  equivalents: readonly ResourceDefinition[],
): ResourceDefinition | undefined {
  const fits = (definition: ResourceDefinition) =>
    matching.rules.some((rule) => ruleMatches(rule, { ...attributes, definition }));
  if (fits(attributes.definition)) return attributes.definition;
  return matching.matchPolicy === 'Exact' ? undefined : equivalents.find(fits);
}

export function ruleMatches(rule: WebhookRule, attributes: AdmissionAttributes): boolean {
  const { definition, operation, subresource, name } = attributes;
  return (
    has(rule.operations, operation) &&
    has(rule.apiGroups, definition.group) &&
    has(rule.apiVersions, definition.version) &&
    (rule.resources ?? []).some((pattern) => resourceMatches(pattern, definition.plural, subresource)) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(name)) &&
    (rule.scope === undefined ||
      rule.scope === '*' ||
      (rule.scope === 'Namespaced') === definition.namespaced)
  );
}

function has(list: readonly string[] | undefined, wanted: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(wanted));
}

function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const [wanted = '', wantedSubresource = ''] = pattern.split('/');
  if (wanted !== '*' && wanted !== resource) return false;
  return wantedSubresource === '*' || wantedSubresource === subresource;
}

/** A namespace selector matches every cluster-scoped object; a namespace is matched by its own labels. */
export function namespaceMatches(
  selector: LabelSelector | undefined,
  { definition, object, oldObject, namespace }: AdmissionAttributes,
  namespaceOf: (name: string) => KubeObject | undefined,
): boolean {
  if (selector === undefined || isEmpty(selector)) return true;
  if (definition.group === '' && definition.plural === 'namespaces')
    return selectorMatches(selector, (object ?? oldObject)?.metadata.labels);
  return !definition.namespaced || selectorMatches(selector, namespaceOf(namespace)?.metadata.labels);
}

/** One of the two states must match, so that taking the label away is seen as well. */
export function objectMatches(
  selector: LabelSelector | undefined,
  { object, oldObject }: AdmissionAttributes,
): boolean {
  if (selector === undefined || isEmpty(selector)) return true;
  return [object, oldObject].some(
    (state) => state !== undefined && selectorMatches(selector, state.metadata.labels),
  );
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}
