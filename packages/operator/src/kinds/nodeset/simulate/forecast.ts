/** When a change of a NodeSet is over: at the earliest, likely, and at the latest; and what stands in its way. Pure. */
import type { Observed } from '../model/observed.ts';
import { type Simulation, simulate } from './simulate.ts';
import type { Durations, SimulatedJob } from './virtual-world.ts';

export interface ForecastJob {
  readonly id: number;
  readonly user: string;
  readonly partition: string;
  readonly nodes: readonly string[];
  readonly startedAt: number | undefined;
  /** By when it must end; Infinity without a limit. */
  readonly deadline: number;
  /** Its end moves while it is suspended. */
  readonly suspended: boolean;
}

/** How much of their limit such jobs used in the past, 0 to 1, and from how many that is known. */
export type UsedShare = (
  job: Pick<ForecastJob, 'user' | 'partition'>,
) => { readonly share: number; readonly jobs: number } | undefined;

export interface ForecastOptions {
  readonly observed: Observed;
  readonly jobs: readonly ForecastJob[];
  readonly durations: Durations;
  readonly usedShare?: UsedShare | undefined;
  readonly now: number;
}

export interface Forecast {
  /** Names of workers that are created, replaced and removed. */
  readonly created: readonly string[];
  readonly replaced: readonly string[];
  readonly removed: readonly string[];
  /** If every job on them ended now. */
  readonly earliest: Simulation;
  /** If jobs use as much of their limit as before; undefined if that is not known. */
  readonly likely: Simulation | undefined;
  /** If jobs use their whole limit. */
  readonly latest: Simulation;
  /** Groups of workers that are drained at the same time, in the earliest run. */
  readonly waves: readonly { readonly at: number; readonly names: readonly string[] }[];
  /** The job that ends last among those that the change waits for. */
  readonly lastJob: ForecastJob | undefined;
  /** Jobs that the change waits for and whose end is not known. */
  readonly endless: readonly ForecastJob[];
  /** Slurm nodes with work that no job explains. */
  readonly unexplained: readonly string[];
  /** From how many jobs the likely end is known. */
  readonly history: { readonly share: number; readonly jobs: number } | undefined;
}

export function forecast({ observed, jobs, durations, usedShare, now }: ForecastOptions): Forecast {
  const names = new Set(observed.workers.map(({ slurmName }) => slurmName));
  const mine = jobs.filter(({ nodes }) => nodes.some((node) => names.has(node)));
  const unexplained = busyWithoutJob(observed, mine);
  const run = (endOf: (job: ForecastJob) => number, withUnexplained = true, times = durations) =>
    simulate(
      observed,
      [
        ...mine.map((job) => simulated(job, endOf(job))),
        ...(withUnexplained ? unexplained.map(endless) : []),
      ],
      times,
      now,
    );
  const latestEnd = ({ suspended, deadline }: ForecastJob) =>
    suspended ? Number.POSITIVE_INFINITY : Math.max(deadline, now + 1);
  // The first start of an installation waits for images and for slurmctld; later ones need not.
  const earliest = run(() => now, false, { ...durations, ...durations.fastest });
  const latest = run(latestEnd);
  const shares = mine.map((job) => usedShare?.(job));
  const known = mine.length > 0 && shares.every((share) => share !== undefined);
  const likely = known
    ? run((job) => {
        const end = latestEnd(job);
        const share = usedShare?.(job)?.share ?? 1;
        return Number.isFinite(end) ? likelyEnd(job, share, now) : end;
      })
    : undefined;
  const affected = affectedBy(latest);
  const waitedFor = mine.filter(({ nodes }) => nodes.some((node) => affected.drained.has(node)));
  return {
    created: affected.created,
    replaced: affected.replaced,
    removed: affected.removed,
    earliest,
    likely,
    latest,
    waves: wavesOf(earliest),
    lastJob: waitedFor
      .filter((job) => Number.isFinite(latestEnd(job)))
      .toSorted((a, b) => b.deadline - a.deadline)[0],
    endless: waitedFor.filter((job) => !Number.isFinite(latestEnd(job))),
    unexplained: unexplained.filter((node) => affected.drained.has(node)),
    history: known ? shares.toSorted((a, b) => (b?.jobs ?? 0) - (a?.jobs ?? 0))[0] : undefined,
  };
}

const simulated = ({ id, nodes, deadline }: ForecastJob, endsAt: number): SimulatedJob => ({
  id,
  nodes,
  endsAt,
  deadline,
});

const endless = (node: string): SimulatedJob => ({
  id: 0,
  nodes: [node],
  endsAt: Number.POSITIVE_INFINITY,
  deadline: Number.POSITIVE_INFINITY,
});

/** A job that has outlived its likely end is given the same share of what is left. */
function likelyEnd({ startedAt, deadline }: ForecastJob, share: number, now: number): number {
  const expected = startedAt === undefined ? 0 : startedAt + share * (deadline - startedAt);
  return Math.max(now + 1, expected > now ? expected : now + share * (deadline - now));
}

function busyWithoutJob({ slurm, workers }: Observed, jobs: readonly ForecastJob[]): string[] {
  if (slurm.kind === 'unknown') return [];
  const explained = new Set(jobs.flatMap(({ nodes }) => nodes));
  return workers
    .map(({ slurmName }) => slurmName)
    .filter((name) => ['ALLOCATED', 'MIXED'].includes(slurm.nodes.get(name)?.base ?? ''))
    .filter((name) => !explained.has(name));
}

/** Also workers that wait indefinitely count: they are to be removed or replaced. */
function affectedBy({ steps, blocked }: Simulation) {
  const of = (kind: string) => new Set(steps.filter((step) => step.kind === kind).map(({ name }) => name));
  const created = of('create');
  const deleted = new Set([...of('delete'), ...blocked]);
  const scaledIn = new Set(
    steps.filter(({ kind, why }) => kind === 'delete' && why === 'scale-in').map(({ name }) => name),
  );
  return {
    created: [...created].filter((name) => !deleted.has(name)),
    replaced: [...deleted].filter((name) => !scaledIn.has(name)),
    removed: [...scaledIn],
    drained: of('drain'),
  };
}

function wavesOf({ steps }: Simulation): { readonly at: number; readonly names: readonly string[] }[] {
  const waves = new Map<number, string[]>();
  for (const { at, kind, name } of steps) {
    if (kind !== 'delete') continue;
    // What follows within a second is the same wave: a delete comes one list of Slurm after its drain.
    const wave = [...waves.keys()].findLast((start) => at - start < 1_000) ?? at;
    waves.set(wave, [...(waves.get(wave) ?? []), name]);
  }
  return [...waves].map(([at, names]) => ({ at, names }));
}
