/** How a definition converts between its versions: by a webhook, or not at all. */
import { dnsLabel1035 } from '@slurm-operator/kubernetes-values';
import type { FieldFault } from '../../api/errors.ts';
import { validateWebhookService, validateWebhookUrl } from '../builtins/webhook-client.ts';
import type { CustomConversion } from './definition.ts';
import { forbiddenField, invalidValue, requiredValue, unsupportedValue } from './faults.ts';

const reviewVersions = ['v1', 'v1beta1'];

export function validateConversion(conversion: CustomConversion | undefined, path: string): FieldFault[] {
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  const faults: FieldFault[] = [];
  if (!strategy) faults.push(requiredValue(`${path}.strategy`));
  else if (strategy !== 'None' && strategy !== 'Webhook')
    faults.push(unsupportedValue(`${path}.strategy`, strategy, ['None', 'Webhook']));
  const versions = webhook?.conversionReviewVersions ?? [];
  const client = `${path}.webhookClientConfig`;
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (webhook?.clientConfig) faults.push(forbiddenField(client, detail));
    if (versions.length > 0) faults.push(forbiddenField(`${path}.conversionReviewVersions`, detail));
    return faults;
  }
  if (!webhook?.clientConfig) faults.push(requiredValue(client, 'required when strategy is set to Webhook'));
  else {
    const { url, service } = webhook.clientConfig;
    if ((url === undefined) === (service === undefined))
      faults.push(requiredValue(client, 'exactly one of url or service is required'));
    else if (url !== undefined) faults.push(...validateWebhookUrl(url, `${client}.url`));
    else if (service) faults.push(...validateWebhookService(service, `${client}.service`));
  }
  return [...faults, ...validateReviewVersions(versions, `${path}.conversionReviewVersions`)];
}

function validateReviewVersions(versions: readonly string[], field: string): FieldFault[] {
  if (versions.length === 0) return [requiredValue(field)];
  const faults: FieldFault[] = [];
  for (const [index, version] of versions.entries())
    if (versions.indexOf(version) < index)
      faults.push(invalidValue(`${field}[${index}]`, version, 'duplicate version'));
    else
      for (const text of dnsLabel1035(version))
        faults.push(invalidValue(`${field}[${index}]`, version, text));
  if (!versions.some((version) => reviewVersions.includes(version)))
    faults.push(
      invalidValue(field, [...versions], `must include at least one of ${reviewVersions.join(', ')}`),
    );
  return faults;
}
