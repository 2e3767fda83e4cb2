/** `make test`: everything that `make check` does, then every tier of tests. `ONLY=part/of/path` narrows, `TIER=name` picks one. */
import './end-with-parent.ts';
import { describeFailures, type Failure } from './failures.ts';
import { runCheck } from './run-check.ts';
import { runTier, type TierResult } from './run-tier.ts';
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

const failures: Failure[] = [];
const results: TierResult[] = [];
if (!narrowed) {
  const check = await runCheck();
  failures.push(...check.failures);
  results.push(check.unit);
}
for (const tier of chosen) if (narrowed || tier !== 'unit') results.push(await runTier(tier, only));

console.log(
  `\n${bold('tier'.padEnd(14))}${'files'.padStart(7)}${'passed'.padStart(9)}${'failed'.padStart(9)}${'skipped'.padStart(9)}   time`,
);
for (const result of results) {
  const mark = result.failures.length > 0 ? red : result.skipped.length > 0 ? yellow : green;
  const counts = [result.passed, result.failures.length, result.skipped.length];
  const columns = [String(result.files).padStart(7), ...counts.map((count) => String(count).padStart(9))];
  console.log(`${mark(result.tier.padEnd(14))}${columns.join('')}   ${duration(result.milliseconds)}`);
}
const skipped = results.flatMap((result) => result.skipped);
if (skipped.length > 0)
  console.log(yellow(`\nNot covered by this run:\n${skipped.map((name) => `  – ${name}`).join('\n')}`));
failures.push(...results.flatMap((result) => result.failures));
if (failures.length > 0) console.log(`\n${describeFailures(failures)}`);
console.log(dim(`\nmake test took ${duration(performance.now() - began)}`));
const passed = results.reduce((total, result) => total + result.passed, 0);
console.log(`${passed} passed, ${failures.length} failed, ${skipped.length} skipped`);
process.exitCode = failures.length === 0 ? 0 : 1;
