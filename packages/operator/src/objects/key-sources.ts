/** The keys that a daemon finds in /etc/slurm, as sources of a projected volume. */
import { keyFile } from '@slurm-operator/api';
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

export function jwksSource({ jwksKeyRef }: Read<KeyRefs>): ProjectedSource[] {
  return jwksKeyRef === undefined
    ? []
    : [{ configMap: { name: jwksKeyRef.name, items: [{ key: jwksKeyRef.key, path: keyFile.jwks }] } }];
}
