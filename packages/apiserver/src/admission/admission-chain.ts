/** The order of admission: built-in plugins, mutating webhooks; then policies, validating webhooks, quota. */
import type { AdmissionChain } from '../ports/admission-chain.ts';
import type { ServerParts } from '../ports/server-parts.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import { defaultTolerationSeconds, priority } from './plugins/pod-defaults.ts';
import { serviceAccount } from './plugins/service-account.ts';
import { defaultStorageClass, storageProtection } from './plugins/storage.ts';
import { runPolicies } from './policies.ts';
import { runMutatingWebhooks, runValidatingWebhooks } from './webhooks/run-webhooks.ts';

const plugins: readonly AdmissionPlugin[] = [
  namespaceLifecycle,
  serviceAccount,
  priority,
  defaultTolerationSeconds,
  defaultStorageClass,
  storageProtection,
];

export function createAdmissionChain(_parts: ServerParts): AdmissionChain {
  return {
    async mutate(attributes, context) {
      for (const plugin of plugins) plugin.mutate?.(attributes, context);
      return attributes.operation === 'DELETE' ? attributes.object : runMutatingWebhooks(attributes, context);
    },
    async validate(attributes, context) {
      for (const plugin of plugins) plugin.validate?.(attributes, context);
      runPolicies(attributes, context);
      await runValidatingWebhooks(attributes, context);
    },
  };
}
