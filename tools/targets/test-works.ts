/** The work of a test run: every file in its lane, with what it starts from and how long it takes, about. Pure but for one table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Preparation, preparations, preparationsOf, preparedAfter } from './preparations.ts';
import type { Work } from './schedule.ts';
import type { Tier } from './tiers.ts';

export interface FileWork extends Work {
  readonly tier: Tier;
  readonly files: readonly string[];
}

export interface PreparationWork extends Work {
  readonly preparation: Preparation;
}

/** Seconds by file, measured; `TIMES=write make test` updates them. A file without an entry is estimated from its tier. */
export const timesFile = join(import.meta.dirname, 'file-times.json');

const guesses: Readonly<Record<Tier, number>> = {
  unit: 15,
  integration: 5,
  sandbox: 20,
  cluster: 60,
  vm: 180,
};

/** Files of tiers that wait, but which compute. */
const computing = [
  /^images\/src\/operator\//,
  /^packages\/operator\/src\/slurm-conf\/slurm-parser\.sandbox\./,
];

/** Files that watch the time others take, or that run for long and lose everything by one slow answer. */
const wide: readonly (readonly [RegExp, number])[] = [
  [/^e2e\/soak\./, 2],
  [/^e2e\/control-plane-ha\./, 2],
  [/^e2e\/helm/, 2],
  // An emulated machine takes two cores.
  [/\.vm\.test\./, 2],
];

export function fileWorks(tier: Tier, files: readonly string[], times = readTimes()): FileWork[] {
  if (files.length === 0) return [];
  // All that touch nothing but memory share one process.
  const groups = tier === 'unit' ? [files] : files.map((file) => [file]);
  return groups.map((group) => {
    const [file = ''] = group;
    const name = tier === 'unit' ? `unit tests (${files.length} files)` : file;
    const waits =
      (tier === 'sandbox' || tier === 'cluster' || tier === 'vm') && !computing.some((one) => one.test(file));
    return {
      name,
      tier,
      files: group,
      lane: waits ? 'waiting' : 'computing',
      share: wide.find(([pattern]) => pattern.test(file))?.[1] ?? 1,
      seconds: times[name.replace(/ \(.*/, '')] ?? guesses[tier],
      after: tier === 'unit' ? [] : preparationsOf(file).map(preparing),
    };
  });
}

/** What the given files start from, and what that starts from. */
export function preparationWorks(files: readonly FileWork[]): PreparationWork[] {
  const wanted = new Set(files.flatMap((work) => work.after));
  const all = (Object.keys(preparations) as Preparation[]).toReversed();
  const works: PreparationWork[] = [];
  for (const preparation of all) {
    const name = preparing(preparation);
    const earlier = preparedAfter[preparation].map(preparing);
    if (!wanted.has(name)) continue;
    works.push({
      name,
      preparation,
      lane: 'preparing',
      share: 1,
      seconds: preparations[preparation].seconds,
      after: earlier.filter((other) => wanted.has(other)),
    });
  }
  return works;
}

function preparing(name: Preparation): string {
  return `prepare ${name}`;
}

export function readTimes(): Record<string, number> {
  return JSON.parse(readFileSync(timesFile, 'utf8')) as Record<string, number>;
}
