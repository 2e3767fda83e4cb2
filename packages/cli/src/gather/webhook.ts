/** Whether the API server reaches the webhook: a create of a Token that is never stored, and the pods of the webhook. */
import type { WebhookProbe } from '@slurm-operator/advice';
import { ApiError, type Client, draftOf, ForbiddenError } from '@slurm-operator/kube';
import { deploymentsOf } from '../session/installation.ts';
import { tokens } from '../session/resources.ts';

export async function probeWebhook(
  client: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<WebhookProbe> {
  const draft = {
    apiVersion: tokens.apiVersion,
    kind: 'Token',
    metadata: { name: 'kubectl-slurm-probe', namespace },
    spec: { username: 'probe', jwtKeyRef: { name: 'probe', key: 'probe' } },
  };
  try {
    await client.create(tokens, draftOf(tokens, draft), { dryRun: true, signal });
    const down = await downWebhook(client, signal);
    return { accepted: true, message: '', ...(down === undefined ? {} : { down }) };
  } catch (error) {
    if (error instanceof ForbiddenError && !/webhook/i.test(error.message)) throw error;
    // A refusal with reasons of its own came from a webhook that was reached.
    if (error instanceof ApiError)
      return { accepted: !/failed calling webhook/i.test(error.message), message: error.message };
    throw error;
  }
}

/** With failurePolicy Ignore, the default, requests pass while no pod of it runs. */
async function downWebhook(client: Client, signal: AbortSignal): Promise<WebhookProbe['down']> {
  try {
    const items = await deploymentsOf(client, 'webhook', signal);
    const [first] = items;
    if (first === undefined || items.some(({ status }) => (status?.readyReplicas ?? 0) > 0)) return undefined;
    return { namespace: first.metadata.namespace ?? '', name: first.metadata.name };
  } catch (error) {
    if (error instanceof ForbiddenError) return undefined;
    throw error;
  }
}
