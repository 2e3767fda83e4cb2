/** `make check`: types, lint, format, dead code, drift of generated files, unit tests. No root, no network. */
import './end-with-parent.ts';
import { describeFailures } from './failures.ts';
import { runCheck } from './run-check.ts';

const { failures, unit } = await runCheck();
const all = [...failures, ...unit.failures];
if (all.length > 0) console.log(`\n${describeFailures(all)}`);
console.log(`${unit.passed} passed, ${all.length} failed, ${unit.skipped.length} skipped`);
process.exitCode = all.length === 0 ? 0 : 1;
