/** Whether the API server reaches the webhook: a create of a Token that is never stored. */
import type { WebhookProbe } from '@slurm-operator/advice';
import { ApiError, type Client, draftOf, ForbiddenError } from '@slurm-operator/kube';
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
    return { accepted: true, message: '' };
  } catch (error) {
    if (error instanceof ForbiddenError && !/webhook/i.test(error.message)) throw error;
    // A refusal with reasons of its own came from a webhook that was reached.
    if (error instanceof ApiError)
      return { accepted: !/failed calling webhook/i.test(error.message), message: error.message };
    throw error;
  }
}
