import { resolve } from 'node:path';
import type { Failure } from './failures.ts';
import { runTier, type TierResult } from './run-tier.ts';
import { runStep } from './step.ts';

const steps = [
  {
    name: 'types',
    command: ['tsc', '-p', '.', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types'],
  },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings', '.'] },
  {
    name: 'format',
    command: ['biome', 'check', '.'],
    env: { XDG_CACHE_HOME: resolve('node_modules/.cache') },
  },
  { name: 'dead code', command: ['knip', '--no-config-hints'] },
  {
    name: 'generated files are current',
    command: [process.execPath, 'tools/doors/generate.ts', '--check'],
  },
];

export interface CheckResult {
  /** Steps that did not pass; failed unit tests are in `unit`. */
  readonly failures: readonly Failure[];
  readonly unit: TierResult;
}

/** Types, lint, format, dead code, drift of generated files, unit tests. No root, no network. */
export async function runCheck(): Promise<CheckResult> {
  const failures: Failure[] = [];
  // Two at a time: the machine has two cores, and the tools are parallel themselves.
  const waiting = [...steps];
  await Promise.all(
    [0, 1].map(async () => {
      for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
        const { passed, output } = await runStep(step);
        if (!passed) failures.push({ name: step.name, where: '', error: output });
      }
    }),
  );
  return { failures, unit: await runTier('unit') };
}
