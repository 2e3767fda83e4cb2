import { resolve } from 'node:path';
import type { Step } from './step.ts';

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
