/** Writes a status as a patch of what changed, and nothing when nothing did. */
import { type Client, type KubeObject, type Live, type Resource } from '@slurm-operator/kube';
import { canonicalJson } from '../objects/template-hash.ts';

export interface StatusWrite {
  readonly signal: AbortSignal;
  /** Refuse when someone else wrote the object since it was read. */
  readonly exact?: boolean;
  /** Annotations that are written together with the status. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export async function writeStatus<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  status: object,
  { signal, exact = false, annotations = {} }: StatusWrite,
): Promise<boolean> {
  const before = ((object as { status?: unknown }).status ?? {}) as Record<string, unknown>;
  const after = status as Record<string, unknown>;
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (canonicalJson(before[key]) === canonicalJson(after[key])) continue;
    patch[key] = after[key] ?? null;
  }
  const { metadata } = object as Live;
  const missing = Object.entries(annotations).some(([key, value]) => metadata.annotations?.[key] !== value);
  if (Object.keys(patch).length === 0 && !missing) return false;
  await client.mergePatch(
    resource,
    metadata,
    {
      metadata: {
        uid: metadata.uid,
        ...(exact ? { resourceVersion: metadata.resourceVersion } : {}),
        ...(missing ? { annotations } : {}),
      },
      status: patch,
    },
    { subresource: 'status', signal },
  );
  return true;
}
