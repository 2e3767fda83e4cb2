/** Admission policies: expressions that refuse, bound to what they watch over. */

import type { LabelSelector } from '@slurm-operator/kubernetes-values';
import { ApiError, groupResourceText } from '../api/errors.ts';
import { typed } from '../api/typed.ts';
import type { KubeObject } from '../api/types.ts';
import type { CelValue } from '../cel/values.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { type ExpressionInput, evaluate } from './expression.ts';
import type { AdmissionAttributes } from './plugin.ts';
import {
  isExempt,
  namespaceMatches,
  objectMatches,
  ruleMatches,
  type WebhookRule,
} from './webhooks/match.ts';
import { admissionRequest } from './webhooks/review.ts';

const GROUP = 'admissionregistration.k8s.io';

interface MatchResources {
  readonly resourceRules?: readonly WebhookRule[];
  readonly excludeResourceRules?: readonly WebhookRule[];
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
}

interface Policy {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly matchConstraints?: MatchResources;
    readonly matchConditions?: readonly { readonly expression: string }[];
    readonly variables?: readonly { readonly name: string; readonly expression: string }[];
    readonly validations?: readonly {
      readonly expression: string;
      readonly message?: string;
      readonly messageExpression?: string;
      readonly reason?: string;
    }[];
    readonly failurePolicy?: string;
  };
}

interface PolicyBinding {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly policyName: string;
    readonly validationActions?: readonly string[];
    readonly matchResources?: MatchResources;
  };
}

const STATUS_BY_REASON: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  Invalid: 422,
  RequestEntityTooLarge: 413,
};

export function runPolicies(attributes: AdmissionAttributes, context: RequestContext): void {
  if (isExempt(attributes.definition)) return;
  const { store } = context.parts;
  for (const object of store.list(`${GROUP}/validatingadmissionpolicybindings`)) {
    const binding = typed<PolicyBinding>(object);
    const policy = store.get(`${GROUP}/validatingadmissionpolicies`, undefined, binding.spec.policyName);
    if (policy !== undefined) enforce(typed<Policy>(policy), binding, attributes, context);
  }
}

function enforce(
  policy: Policy,
  binding: PolicyBinding,
  attributes: AdmissionAttributes,
  context: RequestContext,
): void {
  const { spec } = policy;
  const namespaceOf = (name: string) => context.parts.store.get('/namespaces', undefined, name);
  const selects = (match: MatchResources | undefined) => matches(match, attributes, namespaceOf);
  if (
    !selects(spec.matchConstraints) ||
    !(binding.spec.matchResources === undefined || selects(binding.spec.matchResources))
  )
    return;
  const request = admissionRequest(attributes, context, attributes.definition);
  const input: ExpressionInput = {
    object: request.object,
    oldObject: request.oldObject,
    request,
    namespaceObject: namespaceOf(attributes.namespace),
  };
  const conditions = (spec.matchConditions ?? []).map(({ expression }) => evaluate(expression, input));
  if (conditions.some((result) => 'value' in result && result.value === false)) return;
  const fault = conditions.find((result) => 'fault' in result);
  if (fault !== undefined && 'fault' in fault) {
    if (spec.failurePolicy !== 'Ignore') throw denial(policy, binding, attributes, fault.fault, 'Invalid');
    return;
  }
  const withVariables = { ...input, variables: variablesOf(spec.variables ?? [], input) };
  for (const validation of spec.validations ?? []) {
    const result = evaluate(validation.expression, withVariables);
    if ('value' in result && result.value === true) continue;
    if ('fault' in result && spec.failurePolicy === 'Ignore') continue;
    const message =
      'fault' in result
        ? `expression '${validation.expression}' resulted in error: ${result.fault}`
        : messageOf(validation, withVariables);
    const actions = binding.spec.validationActions ?? ['Deny'];
    if (actions.includes('Warn'))
      context.warnings.push(
        `Validation failed for ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}': ${message}`,
      );
    if (actions.includes('Deny'))
      throw denial(policy, binding, attributes, message, validation.reason ?? 'Invalid');
  }
}

function matches(
  match: MatchResources | undefined,
  attributes: AdmissionAttributes,
  namespaceOf: (name: string) => KubeObject | undefined,
): boolean {
  if (match === undefined) return false;
  const fits = (rules: readonly WebhookRule[] | undefined) =>
    (rules ?? []).some((rule) => ruleMatches(rule, attributes));
  return (
    (match.resourceRules === undefined || fits(match.resourceRules)) &&
    !fits(match.excludeResourceRules) &&
    namespaceMatches(match.namespaceSelector, attributes, namespaceOf) &&
    objectMatches(match.objectSelector, attributes)
  );
}

/** Variables are worked out in order; each may use those before it. */
function variablesOf(
  variables: readonly { readonly name: string; readonly expression: string }[],
  input: ExpressionInput,
): Map<string, CelValue> {
  const known = new Map<string, CelValue>();
  for (const { name, expression } of variables) {
    const result = evaluate(expression, { ...input, variables: known });
    if ('value' in result) known.set(name, result.value);
  }
  return known;
}

function messageOf(
  validation: { readonly expression: string; readonly message?: string; readonly messageExpression?: string },
  input: ExpressionInput,
): string {
  if (validation.messageExpression !== undefined) {
    const result = evaluate(validation.messageExpression, input);
    if ('value' in result && typeof result.value === 'string' && result.value !== '') return result.value;
  }
  return validation.message ?? `failed expression: ${validation.expression}`;
}

function denial(
  policy: Policy,
  binding: PolicyBinding,
  { definition, name }: AdmissionAttributes,
  why: string,
  reason: string,
): ApiError {
  const message = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}' denied request: ${why}`;
  const what = groupResourceText({ group: definition.group, resource: definition.plural });
  return new ApiError(STATUS_BY_REASON[reason] ?? 422, reason, `${what} "${name}" is forbidden: ${message}`, {
    details: {
      name,
      ...(definition.group === '' ? {} : { group: definition.group }),
      kind: definition.plural,
      causes: [{ message }],
    },
  });
}
