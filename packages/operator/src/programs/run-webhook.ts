/** Puts the webhook program together from its command line. */
import {
  type CertificateSource,
  type ClusterConfig,
  certificateFiles,
  type Manager,
  SelfSignedCertificates,
} from '@slurm-operator/kube';
import { setupWebhooks } from '../webhook/setup.ts';
import { managerOf } from './manager-of.ts';
import type { Program } from './run-program.ts';
import { type WebhookFlags, webhookFlags } from './webhook-flags.ts';

export const runWebhook: Program = async (args, env, signal) => {
  const flags = webhookFlags(args, env);
  if ('usage' in flags) return flags.usage;
  // No election: every replica serves, and a lease that is lost would only restart one.
  const serving = { ...flags.serving, leaderElection: undefined };
  const { manager, config } = await managerOf({ name: 'slurm-operator-webhook' }, { ...flags, serving });
  const { namespaces, http2 } = flags.serving;
  const server = setupWebhooks({
    client: manager.unguardedClient,
    log: manager.log,
    namespaces: namespaces && new Set(namespaces),
    certificates: certificatesOf(flags.certificates, manager, config),
    metrics: manager.metrics,
    http2,
    ...flags.server,
  });
  manager.health.addReadyCheck('webhook', () =>
    server.port === undefined ? 'the certificate is not ready yet' : undefined,
  );
  manager.add(server, { everywhere: true });
  await manager.start(signal);
  return undefined;
};

function certificatesOf(
  from: WebhookFlags['certificates'],
  { unguardedClient, log, clock }: Manager,
  config: ClusterConfig,
): CertificateSource {
  if ('directory' in from) return certificateFiles({ ...from, log, clock });
  const namespace = from.namespace ?? config.namespace;
  const { service, secret, validating, mutating } = from;
  return new SelfSignedCertificates(
    unguardedClient,
    {
      secret: { namespace, name: secret },
      dnsNames: [`${service}.${namespace}.svc`, `${service}.${namespace}`, service],
      inject: [
        ...(validating === '' ? [] : [{ kind: 'validating' as const, name: validating }]),
        ...(mutating === '' ? [] : [{ kind: 'mutating' as const, name: mutating }]),
      ],
    },
    { log, clock },
  );
}
