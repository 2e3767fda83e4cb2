/** What a change of `spec.persistence` means for a volume that exists: larger is possible, nothing else is. Pure. */
import { quantityNumber } from '@slurm-operator/kubernetes-values';
import type { IPersistentVolumeClaimSpec } from 'kubernetes-models/v1/PersistentVolumeClaimSpec';
import type { Problem } from '../../../framework/status/conditions.ts';
import type { Read } from '../../../objects/read.ts';

type ClaimSpec = Read<IPersistentVolumeClaimSpec>;

export interface StateClaim {
  readonly name: string;
  readonly uid: string;
  readonly requested: string | undefined;
  readonly capacity: string | undefined;
  /** Kubernetes resizes bound claims only. */
  readonly bound: boolean;
  /** What the storage driver says about a resize. */
  readonly message: string | undefined;
  /** What is noted there of the needs of its jobs. */
  readonly noted?: string | undefined;
}

export interface StateVolume {
  /** The claim that the StatefulSet was created with. Its claim templates never change. */
  readonly template: ClaimSpec | undefined;
  /** Names of the claims of its pods. */
  readonly names: readonly string[];
  readonly claims: readonly StateClaim[];
}

export interface Resize {
  readonly name: string;
  readonly uid: string;
  readonly size: string;
}

export interface StateVolumePlan {
  readonly resize: readonly Resize[];
  readonly problems: readonly Problem[];
}

const goesOn = 'Every other change of the Controller is applied.';

export function planStateVolume(wanted: ClaimSpec | undefined, volume: StateVolume): StateVolumePlan {
  const { template } = volume;
  if (wanted === undefined || template === undefined) return { resize: [], problems: [] };
  const size = sizeOf(wanted);
  // As it was created: a claim that was enlarged manually is left unchanged.
  const asCreated = quantityNumber(size) === quantityNumber(sizeOf(template));
  const resize = volume.claims
    .filter(({ bound, requested }) => bound && quantityNumber(size) > quantityNumber(requested))
    .map(({ name, uid }) => ({ name, uid, size }));
  const smaller = asCreated
    ? []
    : volume.claims.filter(({ requested }) => quantityNumber(size) < quantityNumber(requested));
  const missing =
    quantityNumber(size) > quantityNumber(sizeOf(template))
      ? volume.names.filter((name) => !volume.claims.some((claim) => claim.name === name))
      : [];
  return {
    resize,
    problems: [
      ...fixedFields(wanted, template).map(unchangeable),
      ...smaller.map(({ name, requested = '' }) => shrinks(size, name, requested)),
      ...volume.claims
        .filter((claim) => isGrowing(claim, size))
        .map((claim): Problem => growing(claim, size)),
      ...missing.map((name): Problem => waits(name, size)),
    ],
  };
}

const sizeOf = (spec: ClaimSpec): string => String(spec.resources?.requests?.['storage'] ?? '');

const isGrowing = ({ bound, requested, capacity }: StateClaim, size: string): boolean =>
  quantityNumber(size) > quantityNumber(requested) ||
  (bound && capacity !== undefined && quantityNumber(capacity) < quantityNumber(requested));

/** Fields in which the claim that is asked for differs from the one that exists, its size aside. */
function fixedFields(wanted: ClaimSpec, template: ClaimSpec): [field: string, now: unknown, then: unknown][] {
  const flat = ({ resources, ...rest }: ClaimSpec): Record<string, unknown> => ({
    ...rest,
    // Filled in by Kubernetes.
    volumeMode: rest.volumeMode ?? 'Filesystem',
    ...(resources?.limits === undefined ? {} : { 'resources.limits': resources.limits }),
  });
  const [now, then] = [flat(wanted), flat(template)];
  // Kubernetes fills in each from the other.
  const both = now['dataSource'] === undefined || now['dataSourceRef'] === undefined;
  const fields = new Set([...Object.keys(now), ...Object.keys(then)]);
  return [...fields]
    .filter((field) => !(both && field.startsWith('dataSource') && now[field] === undefined))
    .filter((field) => !same(now[field], then[field]))
    .toSorted()
    .map((field) => [field, now[field], then[field]]);
}

const same = (a: unknown, b: unknown): boolean => text(a) === text(b);
const text = (value: unknown): string => (value === undefined ? 'not set' : JSON.stringify(value));

const unchangeable = ([field, now, then]: [string, unknown, unknown]): Problem => ({
  reason: 'VolumeUnchangeable',
  message: `spec.persistence.${field} is ${text(now)}, but the volume of slurmctld was created with ${text(then)}, which Kubernetes cannot change in place: revert it, or move the state to another volume (docs/how-to/storage.md). ${goesOn}`,
  stillReady: true,
});

const shrinks = (size: string, name: string, requested: string): Problem => ({
  reason: 'VolumeUnchangeable',
  message: `spec.persistence.resources.requests.storage is "${size}", but PersistentVolumeClaim ${name} has ${requested}: a volume cannot shrink. Set it to ${requested} or more. ${goesOn}`,
  stillReady: true,
});

const growing = ({ name, capacity, message, requested }: StateClaim, size: string): Problem => ({
  reason: 'VolumeResizing',
  message: `PersistentVolumeClaim ${name} is being enlarged from ${capacity ?? requested ?? 'an unknown size'} to ${size}.${message === undefined ? '' : ` ${message}`}`,
  passing: true,
  stillReady: true,
});

const waits = (name: string, size: string): Problem => ({
  reason: 'VolumeResizing',
  message: `PersistentVolumeClaim ${name} cannot be enlarged to ${size}, because it does not exist yet. If it does, it lacks the labels app.kubernetes.io/name=slurmctld and app.kubernetes.io/instance: add them.`,
  passing: true,
  stillReady: true,
});

/** Kubernetes or its storage class refused to enlarge a claim. */
export const resizeRefused = ({ name, size }: Resize, why: string): Problem => ({
  reason: 'VolumeUnchangeable',
  message: `spec.persistence.resources.requests.storage is "${size}", but Kubernetes refuses to enlarge PersistentVolumeClaim ${name}: ${why}. Set allowVolumeExpansion on its StorageClass if the driver supports it, or revert the size. ${goesOn}`,
  stillReady: true,
});
