/** Webhook configurations and admission policies: defaults and rules. */
import type { IMutatingWebhook } from 'kubernetes-models/admissionregistration.k8s.io/v1/MutatingWebhook';
import type { IValidatingAdmissionPolicy } from 'kubernetes-models/admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy';
import type { IValidatingAdmissionPolicyBinding } from 'kubernetes-models/admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding';
import { type FieldFault, notImplemented } from '../errors.ts';
import type { KubeObject } from '../types.ts';
import type { BuiltinHooks } from './define.ts';
import { duplicate, invalidValue, notSupported, required } from './fault.ts';
import { dnsSubdomain } from './name-rules.ts';

/** Says what is wrong with an expression, or nothing. */
export type ExpressionCheck = (expression: string) => string | undefined;

type Webhook = Partial<IMutatingWebhook>;

const webhooksOf = (object: KubeObject) => (object['webhooks'] ?? []) as Webhook[];

export function webhookConfigurationHooks(mutating: boolean, check: ExpressionCheck): BuiltinHooks {
  return {
    default(object) {
      for (const webhook of webhooksOf(object)) {
        webhook.failurePolicy ??= 'Fail';
        webhook.matchPolicy ??= 'Equivalent';
        webhook.namespaceSelector ??= {};
        webhook.objectSelector ??= {};
        webhook.timeoutSeconds ??= 10;
        if (mutating) webhook.reinvocationPolicy ??= 'Never';
        for (const rule of webhook.rules ?? []) rule.scope ??= '*';
        const service = webhook.clientConfig?.service;
        if (service) service.port ??= 443;
      }
    },
    validate(object) {
      const names = new Set<string>();
      return webhooksOf(object).flatMap((webhook, index) => {
        const at = `webhooks[${index}]`;
        const faults = webhookFaults(webhook, at, check);
        if (names.has(webhook.name ?? '')) faults.push(duplicate(`${at}.name`, webhook.name));
        names.add(webhook.name ?? '');
        return faults;
      });
    },
  };
}

function webhookFaults(webhook: Webhook, at: string, check: ExpressionCheck): FieldFault[] {
  const faults: FieldFault[] = [];
  const { name = '' } = webhook;
  if (!name) faults.push(required(`${at}.name`));
  else if (name.split('.').length < 3)
    faults.push(
      invalidValue(`${at}.name`, name, 'should be a domain with at least three segments separated by dots'),
    );
  else faults.push(...dnsSubdomain(name).map((text) => invalidValue(`${at}.name`, name, text)));
  for (const [index, rule] of (webhook.rules ?? []).entries()) {
    const path = `${at}.rules[${index}]`;
    if (!rule.operations?.length) faults.push(required(`${path}.operations`));
    // A webhook that was made for exec and the like, and is never asked about them, would protect nothing.
    if (rule.operations?.includes('CONNECT')) throw notImplemented('webhooks for CONNECT');
    if (!rule.apiGroups?.length) faults.push(required(`${path}.apiGroups`));
    if (!rule.apiVersions?.length) faults.push(required(`${path}.apiVersions`));
    if (!rule.resources?.length) faults.push(required(`${path}.resources`));
  }
  faults.push(...enumFault(webhook.failurePolicy, `${at}.failurePolicy`, ['Fail', 'Ignore']));
  faults.push(...enumFault(webhook.matchPolicy, `${at}.matchPolicy`, ['Equivalent', 'Exact']));
  if (webhook.sideEffects === undefined)
    faults.push(required(`${at}.sideEffects`, 'must specify one of None, NoneOnDryRun'));
  else faults.push(...enumFault(webhook.sideEffects, `${at}.sideEffects`, ['None', 'NoneOnDryRun']));
  const seconds = webhook.timeoutSeconds;
  if (seconds !== undefined && (seconds < 1 || seconds > 30))
    faults.push(
      invalidValue(`${at}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds'),
    );
  faults.push(...clientFaults(webhook, `${at}.clientConfig`));
  if (!webhook.admissionReviewVersions?.length)
    faults.push(required(`${at}.admissionReviewVersions`, 'must specify one of v1, v1beta1'));
  for (const [index, condition] of (webhook.matchConditions ?? []).entries()) {
    const fault = check(condition.expression);
    if (fault !== undefined)
      faults.push(invalidValue(`${at}.matchConditions[${index}].expression`, condition.expression, fault));
  }
  return faults;
}

function clientFaults({ clientConfig }: Webhook, at: string): FieldFault[] {
  const { url, service } = clientConfig ?? {};
  if ((url === undefined) === (service === undefined))
    return [required(at, 'exactly one of url or service is required')];
  if (service) {
    const faults: FieldFault[] = [];
    if (!service.name) faults.push(required(`${at}.service.name`, 'service name is required'));
    if (!service.namespace) faults.push(required(`${at}.service.namespace`, 'service namespace is required'));
    return faults;
  }
  const format = 'desired format: https://host[/path]';
  if (!URL.canParse(url ?? '')) return [required(`${at}.url`, `url must be a valid URL: ${format}`)];
  const { protocol } = new URL(url ?? '');
  return protocol === 'https:'
    ? []
    : [invalidValue(`${at}.url`, protocol.slice(0, -1), `'https' is the only allowed URL scheme; ${format}`)];
}

function enumFault(value: string | undefined, path: string, supported: readonly string[]): FieldFault[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

export const admissionPolicyHooks: BuiltinHooks = {
  default(object) {
    const { spec } = object as unknown as Partial<IValidatingAdmissionPolicy>;
    if (!spec) return;
    spec.failurePolicy ??= 'Fail';
    const match = spec.matchConstraints;
    if (!match) return;
    match.matchPolicy ??= 'Equivalent';
    match.namespaceSelector ??= {};
    match.objectSelector ??= {};
    for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])])
      rule.scope ??= '*';
  },
  validate(object) {
    const { spec } = object as unknown as Partial<IValidatingAdmissionPolicy>;
    if (spec?.paramKind) throw notImplemented('parameters of admission policies');
    if (spec?.auditAnnotations?.length) throw notImplemented('audit annotations of admission policies');
    return [];
  },
};

export const admissionPolicyBindingHooks: BuiltinHooks = {
  validate(object) {
    const { spec } = object as unknown as Partial<IValidatingAdmissionPolicyBinding>;
    if (spec?.paramRef) throw notImplemented('parameters of admission policies');
    if (spec?.validationActions?.includes('Audit'))
      throw notImplemented('the action Audit of admission policies');
    return [];
  },
};
