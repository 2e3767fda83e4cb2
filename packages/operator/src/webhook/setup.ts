/** Everything that the webhook program serves. */
import { type Client, type Log, WebhookServer, type WebhookServerOptions } from '@slurm-operator/kube';
import { bindTopology } from './bind-topology.ts';
import { bindingPath, reviewedKinds, validatePath } from './configurations.ts';
import { validatorOf } from './validator.ts';

export interface WebhookSetup extends Omit<WebhookServerOptions, 'log'> {
  readonly client: Client;
  readonly log: Log;
  readonly namespaces?: ReadonlySet<string> | undefined;
}

export function setupWebhooks({ client, log, namespaces, ...options }: WebhookSetup): WebhookServer {
  const server = new WebhookServer({ ...options, log });
  for (const kind of reviewedKinds)
    server.validate(validatePath(kind), validatorOf(kind, { client, namespaces }));
  // Served always; asked only where a MutatingWebhookConfiguration says so.
  return server.mutate(bindingPath, bindTopology(client, log));
}
