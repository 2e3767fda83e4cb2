/**
 * The note on the claims of slurmctld's state: what its jobs need of slurm.conf. A Controller that is created again finds it there, however
 * late its NodeSets follow. For a state without a note the first start waits a moment for NodeSets. Pure.
 */
import { type Controller, resourceName } from '@slurm-operator/api';
import type { Problem } from '../../../framework/status/conditions.ts';
import type { Read } from '../../../objects/read.ts';
import { controllerReplicas } from '../../../objects/slurmctld-endpoints.ts';
import { noteOfState } from '../../../slurm-config/guard/kept-state.ts';
import { stateClaimName } from '../objects/stateful-set.ts';
import type { ObservedController } from '../observe.ts';
import type { ConfigEvidence } from './config-hold.ts';

export const stateNoteAnnotation = 'controller.slinky.slurm.net/state-needs';

/** Names of the claims that keep the state, the first one first. */
export function stateClaims(controller: Read<Controller>): string[] {
  const { enabled, existingClaim } = controller.spec.persistence;
  if (controller.spec.external || !enabled) return [];
  if (existingClaim) return [existingClaim];
  const set = resourceName.controller(controller.metadata.name);
  return Array.from({ length: controllerReplicas(controller) }, (_, ordinal) => stateClaimName(set, ordinal));
}

export interface StateNote {
  readonly claim: string;
  /** Null: nothing is noted, because it does not fit. */
  readonly value: string | null;
}

/** What became of a note: claim → when it was written or refused. */
export type WrittenNotes = ReadonlyMap<string, WrittenNote>;

interface WrittenNote {
  readonly value: string | null;
  readonly at: number;
  /** Kubernetes refused it. */
  readonly problem?: Problem;
  /** There was no such claim. */
  readonly missing?: boolean;
}

/** A claim that is not in the cache may have been replaced, */
const writeAgainAfter = 3_600_000;
/** or exists by now. */
export const missingAgainAfter = 30_000;
export const refusedAgainAfter = 300_000;

export interface StateNotes {
  readonly write: readonly StateNote[];
  readonly problems: readonly Problem[];
  readonly againAt: readonly number[];
}

/** What is to be written, with this slurm.conf in force. */
export function planStateNotes(
  { controller, volume, statefulSet, pods }: ObservedController,
  slurmConf: string | undefined,
  { keptState }: Pick<ConfigEvidence, 'keptState'>,
  written: WrittenNotes,
  now: number,
): StateNotes {
  if (slurmConf === undefined || !(statefulSet.exists || keptState))
    return { write: [], problems: [], againAt: [] };
  const value = noteOfState(slurmConf) ?? null;
  const before = (claim: string) => {
    const note = written.get(claim);
    return note?.value === value ? note : undefined;
  };
  const refused = stateClaims(controller).flatMap((claim) => {
    const { problem, at } = before(claim) ?? { at: 0 };
    return problem !== undefined && now < at + refusedAgainAfter ? [{ claim, problem, at }] : [];
  });
  // A claim of the user, or one that was restored by hand, has no label of ours, so it is not in the cache.
  const cached = new Map(volume.claims.map(({ name, noted = null }) => [name, noted]));
  if (keptState !== undefined) cached.set(keptState.claim, keptState.note ?? null);
  const isDue = (claim: string): boolean => {
    if (cached.has(claim)) return cached.get(claim) !== value;
    if (keptState !== undefined) return false;
    return mayExist && now >= againAt(claim);
  };
  // Where there is a pod, there is its claim.
  const mayExist = Boolean(controller.spec.persistence.existingClaim || (volume.template && pods.length > 0));
  const againAt = (claim: string): number => {
    const { at, missing = false } = before(claim) ?? { at: 0 };
    return at + (missing ? missingAgainAfter : writeAgainAfter);
  };
  const missing = stateClaims(controller).filter(
    (claim) => mayExist && !cached.has(claim) && before(claim)?.missing === true,
  );
  return {
    write: stateClaims(controller)
      .filter((claim) => isDue(claim) && !refused.some((one) => one.claim === claim))
      .map((claim) => ({ claim, value })),
    problems: refused.map(({ problem }) => problem),
    againAt: [...refused.map(({ at }) => at + refusedAgainAfter), ...missing.map(againAt)],
  };
}

/** What the next plan knows of the notes. */
export function withWrittenNotes(written: WrittenNotes, notes: readonly NotedState[]): WrittenNotes {
  if (notes.length === 0) return written;
  return new Map([
    ...written,
    ...notes.map(
      ({ claim, value, at, refused, missing = false }) =>
        [
          claim,
          { value, at, missing, ...(refused === undefined ? {} : { problem: noteRefused(claim, refused) }) },
        ] as const,
    ),
  ]);
}

/** A note that was written, that Kubernetes refused, or whose claim does not exist. */
export interface NotedState extends StateNote {
  readonly at: number;
  readonly refused?: string;
  readonly missing?: boolean;
}

export const noteRefused = (claim: string, why: string): Problem => ({
  reason: 'AccessDenied',
  message: `The partitions of slurm.conf cannot be noted on PersistentVolumeClaim ${claim}: ${why}. If the Controller is deleted and created again before its NodeSets, pending jobs are lost. Allow the operator to patch the claim.`,
  stillReady: true,
});

/** NodeSets that the last reconcile knew, while the first start waits for more. */
export interface AwaitedNodeSets {
  readonly names: string;
  readonly since: number;
  readonly quietSince: number;
}

/** As long as a tool may take between two objects of an installation. */
const quietFor = 30_000;
const atMost = 180_000;

export interface NodeSetWait {
  readonly awaited: AwaitedNodeSets | undefined;
  /** Milliseconds; 0: slurmctld may start. */
  readonly left: number;
  readonly problems: readonly Problem[];
}

export function awaitNodeSets(
  { nodeSets, statefulSet }: ObservedController,
  { keptState }: ConfigEvidence,
  before: AwaitedNodeSets | undefined,
  now: number,
): NodeSetWait {
  if (keptState === undefined || keptState.note !== undefined || statefulSet.exists)
    return { awaited: undefined, left: 0, problems: [] };
  const names = nodeSets
    .map(({ metadata }) => metadata.name)
    .toSorted()
    .join();
  const awaited = before?.names === names ? before : { names, since: before?.since ?? now, quietSince: now };
  const left = Math.min(awaited.quietSince + quietFor, awaited.since + atMost) - now;
  // A clock that was set back must not hold the start.
  if (left <= 0 || left > quietFor) return { awaited, left: 0, problems: [] };
  const message = `slurmctld starts ${quietFor / 1000} s after the last NodeSet was created, because PersistentVolumeClaim ${keptState.claim} may have the state of an earlier slurmctld and has no note of its partitions: Slurm ends pending jobs whose partition is missing when it starts. Create all NodeSets now.`;
  return { awaited, left, problems: [{ reason: 'StateKept', message, passing: true }] };
}
