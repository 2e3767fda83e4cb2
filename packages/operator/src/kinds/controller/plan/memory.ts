/** What is remembered about a Controller between two reconciles: an input of its plan, and a value that comes out. Pure. */
import type { Problem } from '../../../framework/status/conditions.ts';
import type { TrialDecision } from '../../../slurm-config/trial/trial.ts';
import type { WantedRestart } from './restart.ts';
import type { AwaitedNodeSets, NotedState, WrittenNotes } from './state-note.ts';
import { type Resize, resizeRefused } from './state-volume.ts';

export interface ControllerMemory {
  /** The configuration that was written last. */
  readonly config: { readonly digest: string; readonly at: number } | undefined;
  /** Hints about the specification that were reported as events. */
  readonly hints: string;
  /** The ServiceMonitor that was written last: its kind may not exist, so it is not cached. */
  readonly monitor: string | undefined;
  /** The restart of slurmctld that was desired last. */
  readonly restart: WantedRestart | undefined;
  /** When the slurm.conf in force was last seen with a PrologSlurmctld; undefined: nothing was seen yet. */
  readonly prologSeenAt: number | undefined;
  /** Uid of a claim → the size that Kubernetes refused. */
  readonly refusedSizes: ReadonlyMap<string, RefusedSize>;
  /** Notes on the claims of the state. */
  readonly notes: WrittenNotes;
  /** NodeSets that the first start with a kept state waits for. */
  readonly awaited: AwaitedNodeSets | undefined;
}

export interface RefusedSize {
  readonly size: string;
  readonly at: number;
  readonly problem: Problem;
}

/** What acting found out. */
export type ControllerNote =
  | { readonly type: 'key-created'; readonly name: string }
  | { readonly type: 'tried'; readonly digest: string; readonly decision: TrialDecision }
  | { readonly type: 'monitor'; readonly isKindAbsent: boolean }
  | { readonly type: 'resize-refused'; readonly claim: Resize; readonly why: string; readonly at: number }
  | ({ readonly type: 'state-noted' } & NotedState);

export const emptyControllerMemory: ControllerMemory = {
  config: undefined,
  hints: '',
  monitor: undefined,
  restart: undefined,
  prologSeenAt: undefined,
  refusedSizes: new Map(),
  notes: new Map(),
  awaited: undefined,
};

/**
 * The first change of a configuration passes at once, and those that follow are gathered: every change makes slurmctld read its files
 * again, and twenty NodeSets that change in a second should cost it two reconfigurations, not twenty.
 */
const period = 1_500;

/** Milliseconds to wait before this configuration may be written; 0: now. */
export function pauseBefore(digest: string, { config }: ControllerMemory, now: number): number {
  if (config === undefined || config.digest === digest) return 0;
  const left = config.at + period - now;
  // A clock that was set back must not hold a change.
  return left > period ? 0 : Math.max(0, left);
}

export function withConfig(memory: ControllerMemory, digest: string, now: number): ControllerMemory {
  return memory.config?.digest === digest ? memory : { ...memory, config: { digest, at: now } };
}

/** A StorageClass may be corrected at any time, and nothing reports that. */
export const resizeAgainAfter = 300_000;

export interface ResizeRounds {
  readonly ask: readonly Resize[];
  readonly problems: readonly Problem[];
  readonly againAt: readonly number[];
}

/** Kubernetes is not asked again for a size that it refused a moment ago. */
export function planResizes(claims: readonly Resize[], memory: ControllerMemory, now: number): ResizeRounds {
  const ask: Resize[] = [];
  const refused: RefusedSize[] = [];
  for (const claim of claims) {
    const last = memory.refusedSizes.get(claim.uid);
    const stands = last?.size === claim.size && now < last.at + resizeAgainAfter;
    if (last !== undefined && stands) refused.push(last);
    else ask.push(claim);
  }
  return {
    ask,
    problems: refused.map(({ problem }) => problem),
    againAt: refused.map(({ at }) => at + resizeAgainAfter),
  };
}

export function withRefusedSizes(
  memory: ControllerMemory,
  asked: readonly Resize[],
  notes: readonly ControllerNote[],
): ControllerMemory {
  const refusals = notes.filter((note) => note.type === 'resize-refused');
  if (asked.length === 0 && refusals.length === 0) return memory;
  const kept = [...memory.refusedSizes].filter(([uid]) => !asked.some((claim) => claim.uid === uid));
  const added = refusals.map(
    ({ claim, why, at }) =>
      [claim.uid, { size: claim.size, at, problem: resizeRefused(claim, why) }] as const,
  );
  return { ...memory, refusedSizes: new Map([...kept, ...added]) };
}
