/** Empties a namespace that is being deleted, tells what is left in its conditions, and lets it go when it is empty. */
import { ApiError, type Manager, NotFoundError, pathOf } from '@slurm-operator/kube';
import { namespaces, pods } from '../../objects/objects.ts';
import { servedResources } from '../served-resources.ts';
import { type Remaining, remainingConditions } from './plan.ts';

export function addNamespaceController(manager: Manager): void {
  const { cache, client, clock } = manager;
  manager
    .controller('namespace')
    .for(namespaces)
    .reconcile(async ({ name }, { signal }) => {
      const namespace = cache.get(namespaces, { name });
      if (namespace === undefined || namespace.metadata.deletionTimestamp === undefined) return;
      if (!(namespace.spec?.finalizers ?? []).includes('kubernetes')) return;
      const remaining = await empty(name, signal);
      const conditions = remainingConditions(namespace.status?.conditions ?? [], remaining, clock.now());
      await client.mergePatch(
        namespaces,
        { name },
        { status: { conditions } },
        { subresource: 'status', signal },
      );
      if (remaining.length > 0) return { requeueAfter: 500 };
      const finalizers = (namespace.spec?.finalizers ?? []).filter((entry) => entry !== 'kubernetes');
      const live = await client.find(namespaces, { name }, { signal });
      if (live === undefined) return;
      await client
        .json('PUT', pathOf(namespaces, { name, subresource: 'finalize' }), {
          body: { ...live, spec: { ...live.spec, finalizers } },
          signal,
        })
        .catch((error: unknown) => {
          if (!(error instanceof NotFoundError)) throw error;
        });
      return;
    });

  /** Asks for the deletion of everything inside; answers what is still there. */
  async function empty(namespace: string, signal: AbortSignal): Promise<Remaining[]> {
    const remaining: Remaining[] = [];
    for (const resource of await servedResources(client, signal)) {
      if (!resource.namespaced) continue;
      const path = pathOf(resource, { namespace });
      const list = await client
        .json<{ items?: { metadata: { finalizers?: string[] } }[] }>('GET', `${path}?limit=500`, { signal })
        .catch((error: unknown) => {
          if (error instanceof NotFoundError || isNotServed(error)) return { items: [] };
          throw error;
        });
      const items = list.items ?? [];
      if (items.length === 0) continue;
      await client.deleteCollection(resource, {
        namespace,
        propagation: 'Background',
        // Pods get their grace period; nothing else is waited for.
        ...(resource.plural === pods.plural ? {} : { gracePeriodSeconds: 0 }),
        signal,
      });
      const after = await client.json<{ items?: { metadata: { finalizers?: string[] } }[] }>(
        'GET',
        `${path}?limit=500`,
        { signal },
      );
      const left = after.items ?? [];
      if (left.length > 0)
        remaining.push({
          resource,
          count: left.length,
          finalizers: left.flatMap((item) => item.metadata.finalizers ?? []),
        });
    }
    return remaining;
  }
}

/** The embedded server lists some kinds as the real one does, and answers 501 for them: of those there is never anything. */
function isNotServed(error: unknown): boolean {
  return error instanceof ApiError && error.status === 501;
}
