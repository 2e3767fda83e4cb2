import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { capacityFor, Load } from './capacity.ts';
import type { Failure } from './failures.ts';
import { runFiles } from './run-files.ts';
import { type PoolWork, runPool } from './run-pool.ts';
import { runStep, type Step } from './step.ts';
import { dim, duration, green, red, yellow } from './terminal.ts';
import { type FileWork, fileWorks, type PreparationWork, preparationWorks } from './test-works.ts';
import type { Tier } from './tiers.ts';

export interface TierResult {
  readonly tier: Tier;
  readonly files: number;
  /** Of all its files together; they ran side by side. */
  milliseconds: number;
  passed: number;
  readonly failures: Failure[];
  readonly skipped: string[];
}

export interface TestRun {
  /** Types, lint, format, dead code and drift too? */
  readonly checks: boolean;
  readonly files: ReadonlyMap<Tier, readonly string[]>;
  /** One file at a time. @default as many as the machine can take */
  readonly isSerial?: boolean;
}

export interface TestRunResult {
  /** Of checks; failures of tests are in their tiers. */
  readonly failures: readonly Failure[];
  readonly tiers: readonly TierResult[];
  /** Seconds by piece of work, for the table of times. */
  readonly times: ReadonlyMap<string, number>;
}

/** Runs checks, preparations and test files in one pool, and adds up what happened. */
export async function runTests({ checks, files, isSerial = false }: TestRun): Promise<TestRunResult> {
  const failures: Failure[] = [];
  const times = new Map<string, number>();
  const tiers = [...files].map(
    ([tier, of]): TierResult => ({
      tier,
      files: of.length,
      milliseconds: 0,
      passed: 0,
      failures: [],
      skipped: [],
    }),
  );
  const works = [...files].flatMap(([tier, of]) => fileWorks(tier, of));
  // With a single file show its full output.
  const live = works.length === 1 && !checks;
  const pool: PoolWork[] = [
    ...(checks ? checkSteps : []).map((step): PoolWork => {
      const run = async () => {
        const { passed, output, milliseconds } = await runStep(step);
        if (!passed) failures.push({ name: step.name, where: '', error: output });
        return line(passed, step.name, duration(milliseconds), output);
      };
      // Before other tests: a program that does not compile needs none.
      return { name: step.name, lane: 'computing', share: 1, seconds: 10_000 + step.seconds, after: [], run };
    }),
    ...preparationWorks(works).map((work) => ({ ...work, run: () => prepare(work) })),
    ...works.map((work) => {
      const result = tiers.find(({ tier }) => tier === work.tier);
      // One process on one core: it takes as long as all checks together, so it runs beside them.
      const seconds = work.tier === 'unit' ? 20_000 : work.seconds;
      return { ...work, seconds, run: () => runWork(work, live, result, times) };
    }),
  ];
  const cores = availableParallelism();
  const load = new Load(cores);
  const one = { computing: 1, waiting: 1, preparing: 2 };
  await runPool(pool, { capacity: () => (isSerial ? one : capacityFor(cores, load.perCore)) });
  load.stop();
  return { failures, tiers, times };
}

async function runWork(
  work: FileWork,
  live: boolean,
  result: TierResult | undefined,
  times: Map<string, number>,
): Promise<string> {
  const isolation = work.tier === 'unit' ? 'none' : 'process';
  const ran = await runFiles(work.name, work.files, { isolation, live });
  times.set(work.name.replace(/ \(.*/, ''), ran.milliseconds / 1000);
  if (result !== undefined) {
    result.milliseconds += ran.milliseconds;
    result.passed += ran.passed;
    result.skipped.push(...ran.skipped);
    result.failures.push(...withLastOutput(ran.failures, ran.said));
  }
  const counted = ran.skipped.length === 0 ? '' : yellow(`, ${ran.skipped.length} skipped`);
  const told = `${ran.passed} passed${counted}, ${duration(ran.milliseconds)}`;
  return line(ran.failures.length === 0, work.name, told, ran.output);
}

/** A failed preparation is not a failed test: a test that needs it retries, and reports what is missing. */
async function prepare(work: PreparationWork): Promise<string> {
  const { passed, output, milliseconds } = await runStep({
    name: work.name,
    command: [process.execPath, `${import.meta.dirname}/prepare.ts`, work.preparation],
    onLine: (said) => console.log(dim(`       ${said}`)),
  });
  return line(passed, work.name, duration(milliseconds), output);
}

/** What went wrong is told with all that was said, here and now, and once more at the end. */
function line(well: boolean, name: string, about: string, output: string): string {
  if (!well) process.stdout.write(output.endsWith('\n') || output === '' ? output : `${output}\n`);
  return `${well ? green('✔') : red('✘')} ${name} ${dim(about)}`;
}

function withLastOutput(failures: readonly Failure[], said: string): Failure[] {
  if (said.trim() === '') return [...failures];
  return failures.map((failure, index) => (index === failures.length - 1 ? { ...failure, said } : failure));
}

/** What `make check` runs beside the unit tests. No root, no network. `seconds`: on a quiet machine, about. */
export const checkSteps: readonly (Step & { readonly seconds: number })[] = [
  { name: 'lint', seconds: 9, command: ['oxlint', '--type-aware', '--deny-warnings', '.'] },
  {
    name: 'types',
    seconds: 8,
    command: ['tsc', '-p', '.', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types'],
  },
  // The page runs in browsers: other globals, and JSX.
  { name: 'types of the page', seconds: 5, command: ['tsc', '-p', 'packages/dashboard/src/page'] },
  { name: 'dead code', seconds: 6, command: ['knip', '--no-config-hints'] },
  {
    name: 'generated files are current',
    seconds: 4,
    command: [process.execPath, 'tools/targets/generate.ts', '--check'],
  },
  { name: 'words', seconds: 1, command: [process.execPath, 'tools/words/check.ts'] },
  {
    name: 'format',
    seconds: 3,
    command: ['biome', 'check', '.'],
    env: { XDG_CACHE_HOME: resolve('node_modules/.cache') },
  },
];
