/** Webhook configurations: defaults and rules. */

import { dnsLabel1035, dnsSubdomain } from '@slurm-operator/kubernetes-values';
import type { IMutatingWebhook } from 'kubernetes-models/admissionregistration.k8s.io/v1/MutatingWebhook';
import {
  type ExpressionCheck,
  enumFault,
  validateMatchConditions,
  validateRule,
} from '../../admission/admission-rules.ts';
import { type FieldFault, notImplemented } from '../../api/errors.ts';
import { duplicate, invalidValue, required } from '../../api/fault.ts';
import type { KubeObject } from '../../api/types.ts';
import type { BuiltinHooks } from './define.ts';
import { validateLabelSelector } from './label-selector-rules.ts';
import { validateWebhookService, validateWebhookUrl } from './webhook-client.ts';

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
      const faults = webhooksOf(object).flatMap((webhook, index) => {
        const at = `webhooks[${index}]`;
        const found = [
          ...webhookFaults(webhook, at, check),
          ...reviewVersionFaults(webhook.admissionReviewVersions ?? [], `${at}.admissionReviewVersions`),
        ];
        const { name = '' } = webhook;
        if (name !== '' && names.has(name)) found.push(duplicate(`${at}.name`, name));
        names.add(name);
        return found;
      });
      // A webhook that was made for exec and the like, and is never asked about them, would protect nothing.
      if (
        faults.length === 0 &&
        webhooksOf(object).some(({ rules }) =>
          rules?.some(({ operations }) => operations?.includes('CONNECT')),
        )
      )
        throw notImplemented('webhooks for CONNECT');
      return faults;
    },
  };
}

function webhookFaults(webhook: Webhook, at: string, check: ExpressionCheck): FieldFault[] {
  const faults: FieldFault[] = [
    ...nameFaults(webhook.name ?? '', `${at}.name`),
    ...(webhook.rules ?? []).flatMap((rule, index) => validateRule(rule, `${at}.rules[${index}]`)),
    ...enumFault(webhook.failurePolicy, `${at}.failurePolicy`, ['Fail', 'Ignore']),
    ...enumFault(webhook.matchPolicy, `${at}.matchPolicy`, ['Equivalent', 'Exact']),
  ];
  if (webhook.sideEffects === undefined)
    faults.push(required(`${at}.sideEffects`, 'must specify one of None, NoneOnDryRun'));
  else faults.push(...enumFault(webhook.sideEffects, `${at}.sideEffects`, ['None', 'NoneOnDryRun']));
  const seconds = webhook.timeoutSeconds;
  if (seconds !== undefined && (seconds < 1 || seconds > 30))
    faults.push(
      invalidValue(`${at}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds'),
    );
  faults.push(
    ...validateLabelSelector(webhook.namespaceSelector, `${at}.namespaceSelector`),
    ...validateLabelSelector(webhook.objectSelector, `${at}.objectSelector`),
    ...enumFault(webhook.reinvocationPolicy, `${at}.reinvocationPolicy`, ['IfNeeded', 'Never']),
    ...clientFaults(webhook, `${at}.clientConfig`),
    ...validateMatchConditions(webhook.matchConditions ?? [], `${at}.matchConditions`, check),
  );
  return faults;
}

function nameFaults(name: string, field: string): FieldFault[] {
  if (name === '') return [required(field)];
  const texts = dnsSubdomain(name);
  if (texts.length > 0) return [invalidValue(field, name, texts.join(','))];
  return name.split('.').length < 3
    ? [invalidValue(field, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

function clientFaults({ clientConfig }: Webhook, at: string): FieldFault[] {
  const { url, service } = clientConfig ?? {};
  if ((url === undefined) === (service === undefined))
    return [required(at, 'exactly one of url or service is required')];
  if (service) return validateWebhookService(service, `${at}.service`);
  return validateWebhookUrl(url ?? '', `${at}.url`);
}

const reviewVersions = ['v1', 'v1beta1'];

function reviewVersionFaults(versions: readonly string[], at: string): FieldFault[] {
  if (versions.length === 0) return [required(at, `must specify one of ${reviewVersions.join(', ')}`)];
  const faults: FieldFault[] = [];
  for (const [index, version] of versions.entries())
    if (versions.indexOf(version) < index)
      faults.push(invalidValue(`${at}[${index}]`, version, 'duplicate version'));
    else
      for (const text of dnsLabel1035(version)) faults.push(invalidValue(`${at}[${index}]`, version, text));
  if (!versions.some((version) => reviewVersions.includes(version)))
    faults.push(invalidValue(at, versions, `must include at least one of ${reviewVersions.join(', ')}`));
  return faults;
}
