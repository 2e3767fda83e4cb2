import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runStep } from './step.ts';
import type { Tally } from './tally-reporter.ts';
import { type Tier, testFiles, tiers } from './tiers.ts';

export interface TierResult extends Tally {
  readonly tier: Tier;
  readonly files: number;
  readonly milliseconds: number;
  /** The runner ended well and reported its totals. */
  readonly sound: boolean;
}

/** Runs every test file of a tier (or those whose path holds `only`) and counts what happened. */
export async function runTier(tier: Tier, only = ''): Promise<TierResult> {
  const files = testFiles(tier, only);
  const empty = { tier, files: files.length, passed: 0, failed: 0, skipped: [] };
  if (files.length === 0) return { ...empty, milliseconds: 0, sound: true };
  const scratch = mkdtempSync(join(tmpdir(), 'tally-'));
  const tallyFile = join(scratch, 'tally.json');
  const began = performance.now();
  const { isolation, concurrency } = tiers[tier];
  const sound = await runStep({
    name: `${tier} tests (${files.length} files): ${tiers[tier].about}`,
    live: true,
    env: { TALLY_FILE: tallyFile },
    command: [
      process.execPath,
      '--test',
      `--test-isolation=${isolation}`,
      `--test-concurrency=${concurrency}`,
      `--test-reporter=${join(import.meta.dirname, 'tally-reporter.ts')}`,
      ...files,
    ],
  });
  const milliseconds = performance.now() - began;
  try {
    return { ...empty, ...(JSON.parse(readFileSync(tallyFile, 'utf8')) as Tally), milliseconds, sound };
  } catch {
    return { ...empty, milliseconds, sound: false };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
