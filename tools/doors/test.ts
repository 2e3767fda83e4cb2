/** `make test`: everything that `make check` does, then every tier of tests. `ONLY=part/of/path` narrows, `TIER=name` picks one. */
import { runTier, type TierResult } from './run-tier.ts';
import { runStep } from './step.ts';
import { bold, dim, duration, green, red, yellow } from './terminal.ts';
import { type Tier, tiers } from './tiers.ts';

const began = performance.now();
const wanted = process.env['TIER'];
if (wanted !== undefined && !(wanted in tiers)) {
  console.error(`TIER=${wanted} is not a tier; choose one of ${Object.keys(tiers).join(', ')}`);
  process.exit(2);
}
const chosen = (wanted === undefined ? Object.keys(tiers) : [wanted]) as Tier[];
const only = process.env['ONLY'] ?? '';
const narrowed = wanted !== undefined || only !== '';

let checked = true;
if (!narrowed)
  checked = await runStep({
    name: 'make check',
    command: [process.execPath, 'tools/doors/check.ts'],
    live: true,
  });

const results: TierResult[] = [];
for (const tier of chosen) {
  if (tier === 'unit' && !narrowed) continue; // make check ran it
  results.push(await runTier(tier, only));
}

console.log(
  `\n${bold('tier'.padEnd(14))}${'files'.padStart(7)}${'passed'.padStart(9)}${'failed'.padStart(9)}${'skipped'.padStart(9)}   time`,
);
for (const result of results) {
  const mark = result.failed > 0 || !result.sound ? red : result.skipped.length > 0 ? yellow : green;
  console.log(
    `${mark(result.tier.padEnd(14))}${String(result.files).padStart(7)}${String(result.passed).padStart(9)}${String(result.failed).padStart(9)}${String(result.skipped.length).padStart(9)}   ${duration(result.milliseconds)}`,
  );
}
const skipped = results.flatMap((result) => result.skipped);
if (skipped.length > 0)
  console.log(yellow(`\nNot covered by this run:\n${skipped.map((name) => `  – ${name}`).join('\n')}`));
const sum = (pick: (result: TierResult) => number) =>
  results.reduce((total, result) => total + pick(result), 0);
const failed = sum((result) => result.failed);
const sound = checked && results.every((result) => result.sound);
console.log(dim(`\nmake test took ${duration(performance.now() - began)}`));
if (!sound && failed === 0)
  console.log(red('A step above ended badly although no test failed; see its output.'));
console.log(`${sum((result) => result.passed)} passed, ${failed} failed, ${skipped.length} skipped`);
process.exitCode = sound && failed === 0 ? 0 : 1;
