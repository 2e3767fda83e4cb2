/** The order of admission: built-in plugins, mutating webhooks; then policies, validating webhooks, quota. */

import type { KubeObject } from '../api/types.ts';
import type { RequestContext } from '../resource/request-context.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './plugin.ts';
import { limitRanger } from './plugins/limit-ranger.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import { defaultTolerationSeconds, priority } from './plugins/pod-defaults.ts';
import { podSecurity } from './plugins/pod-security.ts';
import { resourceQuota } from './plugins/resource-quota.ts';
import { serviceAccount } from './plugins/service-account.ts';
import { defaultStorageClass, storageProtection, volumeResize } from './plugins/storage.ts';
import { runPolicies } from './policies.ts';
import { runMutatingWebhooks, runValidatingWebhooks } from './webhooks/run-webhooks.ts';

const plugins: readonly AdmissionPlugin[] = [
  namespaceLifecycle,
  limitRanger,
  serviceAccount,
  priority,
  defaultTolerationSeconds,
  defaultStorageClass,
  storageProtection,
  volumeResize,
  podSecurity,
];

/** Runs before the hooks of the kind; answers the object to go on with (it may be changed in place). */
export async function admitMutating(
  attributes: AdmissionAttributes,
  context: RequestContext,
): Promise<KubeObject | undefined> {
  const cached = withCaches(context);
  for (const plugin of plugins) plugin.mutate?.(attributes, cached);
  return runMutatingWebhooks(attributes, cached);
}

/** Runs after validation of the object and just before the write; throws an ApiError to refuse. */
export async function admitValidating(
  attributes: AdmissionAttributes,
  context: RequestContext,
): Promise<void> {
  const cached = withCaches(context);
  // There is nothing to change about a delete, but mutating webhooks may ask to hear of it.
  if (attributes.operation === 'DELETE') await runMutatingWebhooks(attributes, cached);
  for (const plugin of plugins) plugin.validate?.(attributes, cached);
  runPolicies(attributes, cached);
  await runValidatingWebhooks(attributes, cached);
  // Last, so that nothing is charged for what is refused.
  resourceQuota.validate?.(attributes, cached);
}

/** The same request, whose configuration comes from the caches where a test gave some. */
function withCaches(context: RequestContext): RequestContext {
  const { parts } = context;
  if (parts.caches === undefined) return context;
  const value = { ...parts, store: parts.caches.configuration };
  return Object.create(context, { parts: { value } }) as RequestContext;
}
