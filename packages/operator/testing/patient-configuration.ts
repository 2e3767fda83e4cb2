import { validatingConfiguration, type WebhookPlace } from '../src/webhook/configurations.ts';

/** The validating webhooks with time enough for a slow machine: an answer that comes too late lets a request pass. */
export function patientConfiguration(place: WebhookPlace) {
  const configuration = validatingConfiguration(place);
  return {
    ...configuration,
    webhooks: configuration.webhooks.map((webhook) => ({ ...webhook, timeoutSeconds: 30 })),
  };
}
