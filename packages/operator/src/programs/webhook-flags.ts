/** The flags of the webhook program: upstream's names and defaults, and where its certificate is. */

import { type Address, address, text, toggle } from './flag-types.ts';
import { type LogSettings, logSettings } from './log-flags.ts';
import { FlagError, parseFlags, usage } from './parse-flags.ts';
import { type ServingSettings, servingFlags, servingSettings } from './serving-flags.ts';

export const webhookFlagTable = {
  ...servingFlags({ metrics: '0' }),
  'leader-elect': toggle(false, 'accepted for compatibility: every replica serves, so none is elected'),
  'server-addr': address(':9443', 'address of the admission webhook'),
  'cert-dir': text(
    '',
    'directory with tls.crt and tls.key, for example from cert-manager (default: the webhook creates a certificate)',
  ),
  'cert-secret': text('slurm-operator-webhook-certs', 'Secret in which the webhook stores its certificates'),
  'service-name': text('slurm-operator-webhook', 'Service through which the API server calls the webhook'),
  'validating-configuration': text(
    'slurm-operator-webhook',
    'ValidatingWebhookConfiguration in which the webhook sets its CA; empty for none',
  ),
  'mutating-configuration': text(
    '',
    'MutatingWebhookConfiguration in which the webhook sets its CA; empty for none',
  ),
};

export interface WebhookFlags {
  readonly serving: ServingSettings;
  readonly log: LogSettings;
  readonly server: Address;
  readonly certificates:
    | { readonly directory: string }
    | {
        readonly secret: string;
        readonly service: string;
        /** The namespace of Secret and Service, where the environment tells. */
        readonly namespace: string | undefined;
        readonly validating: string;
        readonly mutating: string;
      };
}

/** Throws {@link FlagError}, a sentence for people, when a flag is wrong. */
export function webhookFlags(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): WebhookFlags | { readonly usage: string } {
  const flags = parseFlags(webhookFlagTable, args);
  if (flags === undefined)
    return { usage: usage('slurm-operator webhook: validates what CEL rules cannot.', webhookFlagTable) };
  const server = flags['server-addr'];
  if (server === undefined)
    throw new FlagError('--server-addr is 0: the webhook needs an address, such as :9443');
  const directory = flags['cert-dir'];
  return {
    serving: servingSettings(flags, env),
    log: logSettings(flags, env),
    server,
    certificates:
      directory !== ''
        ? { directory }
        : {
            secret: flags['cert-secret'],
            service: flags['service-name'],
            namespace: env['POD_NAMESPACE'] || undefined,
            validating: flags['validating-configuration'],
            mutating: flags['mutating-configuration'],
          },
  };
}
