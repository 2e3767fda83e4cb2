/** What the report of a trial means (trial-scripts.ts writes it). Pure. */

export type TrialResult =
  | { readonly kind: 'passed' }
  | { readonly kind: 'refused'; readonly by: 'slurmctld' | 'slurmd'; readonly message: string }
  /** These workers fail with the configuration in force in the same way, and yet workers run with it: this place cannot tell. */
  | { readonly kind: 'undecided'; readonly workers: readonly UndecidedWorker[] };

export interface UndecidedWorker {
  readonly id: string;
  readonly message: string;
}

const lineOf =
  /^(?:slurmctld failed (?<slurmctld>.*)|slurmd (?<id>\S+) (?<round>new|current) (?:passed|failed (?<why>.*)))$/;

interface WorkerResult {
  readonly id: string;
  why?: string;
  /** Undefined where nothing was compared; null where it passed. */
  current?: string | null;
}

/** `imageOf`: the image of a worker in that pod. */
export function readReport(report: string, imageOf: (id: string) => string): TrialResult {
  const workers = new Map<string, WorkerResult>();
  for (const line of report.split('\n')) {
    const { slurmctld, id, round, why } = lineOf.exec(line.trim())?.groups ?? {};
    if (slurmctld !== undefined) return { kind: 'refused', by: 'slurmctld', message: slurmctld.trim() };
    if (id === undefined) continue;
    const worker: WorkerResult = workers.get(id) ?? { id };
    workers.set(id, worker);
    if (round === 'current') worker.current = why?.trim() ?? null;
    else if (why !== undefined) worker.why = why.trim();
  }
  const failed = [...workers.values()].filter(({ why }) => why !== undefined);
  // A report that cannot be read is a refusal all the same: the exit code says so.
  if (failed.length === 0)
    return { kind: 'refused', by: 'slurmctld', message: report.trim() || 'slurmctld exited without output' };
  const words = ({ id, why }: WorkerResult) => `slurmd of image ${imageOf(id)}: ${why}`;
  const guilty = failed.find((one) => !failsAlike(one));
  if (guilty !== undefined) return { kind: 'refused', by: 'slurmd', message: words(guilty) };
  return { kind: 'undecided', workers: failed.map((one) => ({ id: one.id, message: words(one) })) };
}

/** The same reason with both configurations. Another reason is a new fault, which the real workers may have as well. */
const failsAlike = ({ why, current }: WorkerResult): boolean =>
  typeof current === 'string' && normalized(current) === normalized(why ?? '');

/** Without what differs between two runs: numbers of processes, addresses in memory, the directory of the round. */
const normalized = (reason: string): string =>
  reason
    .replaceAll(/0x[0-9a-f]+|\d{3,}/gi, '#')
    .replaceAll(/\/(tmp\/trial|mnt)\/(new|current)\b/g, '/$1')
    .trim();
