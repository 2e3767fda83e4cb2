/** Writes a status as a patch of what changed, and nothing when nothing did. */
import { type Client, type KubeObject, type Live, type Resource } from '@slurm-operator/kube';
import { canonicalJson } from '../objects/template-hash.ts';

export interface StatusWrite {
  readonly signal: AbortSignal;
  /** Refuse when someone else wrote the object since it was read. */
  readonly exact?: boolean;
}

export async function writeStatus<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  status: object,
  { signal, exact = false }: StatusWrite,
): Promise<boolean> {
  const before = ((object as { status?: unknown }).status ?? {}) as Record<string, unknown>;
  const after = status as Record<string, unknown>;
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (canonicalJson(before[key]) === canonicalJson(after[key])) continue;
    patch[key] = after[key] ?? null;
  }
  if (Object.keys(patch).length === 0) return false;
  const { metadata } = object as Live;
  await client.mergePatch(
    resource,
    metadata,
    {
      metadata: { uid: metadata.uid, ...(exact ? { resourceVersion: metadata.resourceVersion } : {}) },
      status: patch,
    },
    { subresource: 'status', signal },
  );
  return true;
}
