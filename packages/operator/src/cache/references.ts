/** References to Secrets and ConfigMaps: what is cached of them, and what is wrong with them. */
import { type Cache, configMaps, secrets } from '@slurm-operator/kube';
import type { Problem } from '../framework/status/conditions.ts';

/** What is known of a Secret or ConfigMap: the digest of each value, never the value. */
export interface Digests {
  readonly name: string;
  /** Undefined while the object does not exist. */
  readonly keys: Readonly<Record<string, string>> | undefined;
}

export interface KeyRef {
  readonly name: string;
  readonly key: string;
}

export type DataKind = 'Secret' | 'ConfigMap';

export function digestsOf(cache: Cache, kind: DataKind, namespace: string, name: string): Digests {
  const object =
    kind === 'Secret' ? cache.get(secrets, { namespace, name }) : cache.get(configMaps, { namespace, name });
  return { name, keys: object === undefined ? undefined : (object.data ?? {}) };
}

/** The digest of the value that a reference means; empty when it is missing. */
export function digestBehind(among: readonly Digests[], ref: KeyRef | undefined): string {
  return among.find(({ name }) => name === ref?.name)?.keys?.[ref?.key ?? ''] ?? '';
}

export function refProblems(
  kind: DataKind,
  field: string,
  ref: KeyRef | undefined,
  among: readonly Digests[],
  namespace: string,
): Problem[] {
  if (ref === undefined) return [];
  const keys = among.find(({ name }) => name === ref.name)?.keys;
  if (keys?.[ref.key] !== undefined) return [];
  return [
    {
      reason: kind === 'Secret' ? 'SecretNotFound' : 'ConfigMapNotFound',
      message:
        keys === undefined
          ? `spec.${field}.name is "${ref.name}"; no such ${kind} exists in namespace ${namespace}: create it.`
          : `spec.${field}.key is "${ref.key}"; ${kind} ${ref.name} has no such key: add it, or correct the name.`,
    },
  ];
}
