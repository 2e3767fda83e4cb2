/**
 * Takes away what Kubernetes filled in for a rolling update, where another strategy is wanted. Server-side apply leaves what it never set, and
 * Kubernetes refuses the two together: without this the new strategy, and all that is applied with it, would be refused for ever.
 */
import type { Client, KubeObject, Live, Resource } from '@slurm-operator/kube';

interface Strategy {
  readonly type?: string;
  readonly rollingUpdate?: unknown;
}

export interface Workload extends KubeObject {
  /** Of a Deployment it is called `strategy`, of a StatefulSet `updateStrategy`. */
  readonly spec?: { readonly strategy?: Strategy; readonly updateStrategy?: Strategy };
}

/** Whoever applies must always name a type: this patch makes the one that it writes stay. Somebody else's workload is left alone. */
export async function leaveRollingUpdate<T extends Workload>(
  client: Client,
  resource: Resource<T>,
  owner: Live,
  live: Live<T> | undefined,
  wanted: T,
  signal: AbortSignal,
): Promise<void> {
  const workload = live as Live<Workload> | undefined;
  const isOurs = workload?.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid);
  if (workload === undefined || isOurs !== true) return;
  for (const field of ['strategy', 'updateStrategy'] as const) {
    const type = wanted.spec?.[field]?.type;
    if (type === undefined || type === 'RollingUpdate') continue;
    if (workload.spec?.[field]?.rollingUpdate === undefined) continue;
    const { namespace, name, uid } = workload.metadata;
    const body = { metadata: { uid }, spec: { [field]: { type, rollingUpdate: null } } };
    await client.mergePatch(resource, { namespace, name }, body, { signal });
  }
}
