/** `make check`: types, lint, format, dead code, drift of generated files, unit tests. No root, no network. */
import './end-with-parent.ts';
import { describeFailures } from './failures.ts';
import { runTests } from './run-tests.ts';
import { dim, duration } from './terminal.ts';
import { testFiles } from './tiers.ts';

const began = performance.now();
const { failures, tiers } = await runTests({ checks: true, files: new Map([['unit', testFiles('unit')]]) });
const all = [...failures, ...tiers.flatMap((tier) => tier.failures)];
const passed = tiers.reduce((total, tier) => total + tier.passed, 0);
const skipped = tiers.flatMap((tier) => tier.skipped);
if (all.length > 0) console.log(`\n${describeFailures(all)}`);
console.log(dim(`make check took ${duration(performance.now() - began)}`));
console.log(`${passed} passed, ${all.length} failed, ${skipped.length} skipped`);
process.exitCode = all.length === 0 ? 0 : 1;
