/** `make check`: types, lint, format, dead code, drift of generated files, unit tests. No root, no network. */
import { resolve } from 'node:path';
import { runTier } from './run-tier.ts';
import { runStep } from './step.ts';

const node = process.execPath;
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
  { name: 'generated files are current', command: [node, 'tools/doors/generate.ts', '--check'] },
];

// Two at a time: the machine has two cores, and the tools are parallel themselves.
const results: boolean[] = [];
const waiting = [...steps];
await Promise.all(
  [0, 1].map(async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift())
      results.push(await runStep(step));
  }),
);
const unit = await runTier('unit');
results.push(unit.sound && unit.failed === 0);
console.log(`${unit.passed} passed, ${unit.failed} failed, ${unit.skipped.length} skipped`);
process.exitCode = results.every(Boolean) ? 0 : 1;
