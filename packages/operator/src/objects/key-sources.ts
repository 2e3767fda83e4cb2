/** The keys that a daemon finds in /etc/slurm, as sources of a projected volume. */
import { keyFile, resourceName } from '@slurm-operator/api';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { Read } from './read.ts';

export type ProjectedSource = NonNullable<NonNullable<IVolume['projected']>['sources']>[number];

interface KeyRef {
  readonly name: string;
  readonly key: string;
}

export interface KeyRefs {
  readonly slurmKeyRef?: KeyRef | undefined;
  readonly jwtKeyRef?: KeyRef | undefined;
  readonly jwtHs256KeyRef?: KeyRef | undefined;
  readonly jwksKeyRef?: KeyRef | undefined;
}

/** Of the two spellings the newer one counts. */
export const jwtKeyOf = ({ jwtKeyRef, jwtHs256KeyRef }: Read<KeyRefs>): KeyRef | undefined =>
  jwtKeyRef ?? jwtHs256KeyRef;

export function keySources(refs: Read<KeyRefs>): ProjectedSource[] {
  const secret = (ref: KeyRef | undefined, path: string): ProjectedSource[] =>
    // Keys are for the owner and its group alone: Slurm refuses others.
    ref === undefined ? [] : [{ secret: { name: ref.name, items: [{ key: ref.key, path, mode: 0o440 }] } }];
  return [...secret(refs.slurmKeyRef, keyFile.slurm), ...secret(jwtKeyOf(refs), keyFile.jwt)];
}

/**
 * Several keys of auth/slurm, written by the Controller of this name. A pod that names the digest of a set starts with exactly that set,
 * however stale the kubelet's copy of the Secret is.
 */
export const slurmKeysSource = (controller: string, digest: string, mode?: number): ProjectedSource => ({
  secret: {
    name: resourceName.slurmKeys(controller),
    items: [{ key: keySetFile(digest), path: keyFile.slurmKeys, ...(mode === undefined ? {} : { mode }) }],
  },
});

/** The same for workers, which read what is in force again while they run. Without it Slurm reads slurm.key. */
export const currentKeysSource = (controller: string): ProjectedSource => ({
  secret: {
    name: resourceName.slurmKeys(controller),
    items: [{ key: keyFile.slurmKeys, path: keyFile.slurmKeys }],
    optional: true,
  },
});

/** The key of the Secret with the set of this digest. It never changes. */
export const keySetFile = (digest: string): string => `${digest}.jwks`;

/** A daemon that gets its configuration from slurmctld looks for this file in another directory unless it is named. */
export const slurmKeysEnv = { name: 'SLURM_SACK_JWKS', value: `/etc/slurm/${keyFile.slurmKeys}` };

export function jwksSource({ jwksKeyRef }: Read<KeyRefs>): ProjectedSource[] {
  return jwksKeyRef === undefined
    ? []
    : [{ configMap: { name: jwksKeyRef.name, items: [{ key: jwksKeyRef.key, path: keyFile.jwks }] } }];
}
