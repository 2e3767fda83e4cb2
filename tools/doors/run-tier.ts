import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Failure } from './failures.ts';
import { runStep } from './step.ts';
import type { Tally } from './tally-reporter.ts';
import { type Tier, testFiles, tiers } from './tiers.ts';

export interface TierResult {
  readonly tier: Tier;
  readonly files: number;
  readonly milliseconds: number;
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly skipped: readonly string[];
}

/** Runs every test file of a tier (or those whose path holds `only`) and counts what happened. */
export async function runTier(tier: Tier, only = ''): Promise<TierResult> {
  const files = testFiles(tier, only);
  if (files.length === 0) return { tier, files: 0, milliseconds: 0, passed: 0, failures: [], skipped: [] };
  const scratch = mkdtempSync(join(tmpdir(), 'tally-'));
  const tallyFile = join(scratch, 'tally.json');
  const began = performance.now();
  const { isolation, concurrency } = tiers[tier];
  const { passed: sound, outcome } = await runStep({
    name: `${tier} tests (${files.length} files): ${tiers[tier].about}`,
    live: true,
    env: { TALLY_FILE: tallyFile },
    command: [
      process.execPath,
      // The runner hands this on to the process of each file.
      `--import=${join(import.meta.dirname, 'end-with-parent.ts')}`,
      '--test',
      `--test-isolation=${isolation}`,
      `--test-concurrency=${concurrency}`,
      `--test-reporter=${join(import.meta.dirname, 'tally-reporter.ts')}`,
      ...files,
    ],
  });
  const { passed, skipped, failures } = readTally(tallyFile);
  rmSync(scratch, { recursive: true, force: true });
  // A runner that ended badly without a failed test is a failure of its own.
  if (!sound && failures.length === 0)
    failures.push({
      name: `the runner of the ${tier} tests`,
      where: '',
      error: `${outcome}, although no test failed; see its output`,
    });
  return {
    tier,
    files: files.length,
    milliseconds: performance.now() - began,
    passed,
    failures,
    skipped,
  };
}

function readTally(file: string): Tally {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Tally;
  } catch {
    const error = 'it ended before it could tell its results';
    return { passed: 0, failures: [{ name: 'the test runner', where: '', error }], skipped: [] };
  }
}
