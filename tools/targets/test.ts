/**
 * `make test`: everything that `make check` does, and every tier of tests, side by side. `ONLY=part/of/path` narrows, `TIER=name` picks one.
 * `KUBECONFIG=… [REGISTRY=…] make test TIER=cluster` runs the tests of that tier on the cluster that KUBECONFIG names.
 */
import './end-with-parent.ts';
import './kubectl-cache.ts';
import { writeFileSync } from 'node:fs';
import { given } from '@slurm-operator/e2e';
import { explain } from '@slurm-operator/localcluster';
import { describeFailures } from './failures.ts';
import { runTests } from './run-tests.ts';
import { bold, dim, duration, green, red, table, yellow } from './terminal.ts';
import { readTimes, timesFile } from './test-works.ts';
import { type Tier, testFiles, tiers } from './tiers.ts';

const began = performance.now();
const wanted = process.env['TIER'];
if (wanted !== undefined && !(wanted in tiers)) {
  console.error(`TIER=${wanted} is not a tier; choose one of ${Object.keys(tiers).join(', ')}`);
  process.exit(2);
}
const chosen = (wanted === undefined ? Object.keys(tiers) : [wanted]) as Tier[];
const only = process.env['ONLY'] ?? '';
const narrowed = wanted !== undefined || only !== '';

if (chosen.every((tier) => testFiles(tier, only).length === 0)) {
  console.error(`ONLY=${only} is in the path of no test file of ${wanted ?? 'any tier'}: nothing was run`);
  process.exit(2);
}

/** Only a tier that was asked for by name: a KUBECONFIG that happens to be set is not consent. */
const kubeconfig = wanted === 'cluster' ? (process.env['KUBECONFIG'] ?? '') : '';
const givenRun = kubeconfig === '' ? undefined : await openGiven();
/** On a given cluster there is nothing to see of the cluster that this repository brings. */
const ofLocalcluster =
  givenRun === undefined ? [] : testFiles('cluster', only).filter((file) => file.startsWith('localcluster/'));

/** Tests on a cluster say themselves what they need: with a given one that is not root. */
const withoutRoot = process.getuid?.() === 0 ? [] : testFiles('sandbox', only);
const run = await runTests({
  checks: !narrowed,
  files: new Map(
    chosen.map((tier) => [
      tier,
      testFiles(tier, only).filter((file) => !withoutRoot.includes(file) && !ofLocalcluster.includes(file)),
    ]),
  ),
  // Two operators on one cluster would fight.
  isSerial: givenRun !== undefined,
});
const leftBehind = (await givenRun?.close()) ?? { left: [], byOthers: { created: 0, removed: 0 } };
const results = run.tiers;

const { head, lines } = table(
  ['tier', 'files', 'passed', 'failed', 'skipped', 'time of files'],
  results.map(({ tier, files, passed, failures, skipped, milliseconds }) => [
    tier,
    files,
    passed,
    failures.length,
    skipped.length,
    duration(milliseconds),
  ]),
);
console.log(`\n${bold(head)}`);
for (const [index, line] of lines.entries()) {
  const { failures = [], skipped = [] } = results[index] ?? {};
  const mark = failures.length > 0 ? red : skipped.length > 0 ? yellow : green;
  console.log(mark(line));
}
const skipped = [
  ...results.flatMap((result) => result.skipped),
  ...ofLocalcluster.map((file) => `${file} (not run here: it is about localcluster itself)`),
  ...withoutRoot.map((file) => `${file} (needs root: run this as root)`),
];
if (skipped.length > 0)
  console.log(yellow(`\nNot covered by this run:\n${skipped.map((name) => `  – ${name}`).join('\n')}`));
const { left, byOthers } = leftBehind;
const failures = [
  ...run.failures,
  ...results.flatMap((result) => result.failures),
  ...left.map((path) => ({
    name: `left behind: ${path}`,
    where: '',
    error: 'the tests created it and did not remove it',
  })),
];
if (givenRun !== undefined && left.length === 0) {
  const { created, removed } = byOthers;
  const meanwhile =
    created + removed === 0 ? '' : ` Others created ${created} and removed ${removed} objects meanwhile.`;
  console.log(green(`\nOn the given cluster nothing was left behind.${meanwhile}`));
}
if (failures.length > 0) console.log(`\n${describeFailures(failures)}`);
if (process.env['TIMES'] === 'write') writeTimes(run.times);
console.log(dim(`\nmake test took ${duration(performance.now() - began)}`));
const passed = results.reduce((total, result) => total + result.passed, 0);
console.log(`${passed} passed, ${failures.length} failed, ${skipped.length} skipped`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** What took a second or more; the rest is told well enough by its tier. */
function writeTimes(measured: ReadonlyMap<string, number>): void {
  const long = [...Object.entries(readTimes()), ...measured]
    .filter(([, seconds]) => seconds >= 1)
    .map(([name, seconds]) => [name, Math.round(seconds)] as const);
  const sorted = Object.fromEntries([...new Map(long)].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(timesFile, `${JSON.stringify(sorted, null, 2)}\n`);
}

async function openGiven(): Promise<given.GivenRun> {
  console.log(bold(`▸ the cluster that KUBECONFIG names: ${kubeconfig}`));
  try {
    const opened = await given.openGivenRun({
      kubeconfig,
      registry: process.env['REGISTRY'] ?? '',
      say: (line) => console.log(dim(`  ${line}`)),
    });
    Object.assign(process.env, opened.env);
    return opened;
  } catch (error) {
    console.error(red(`✘ ${explain(error)}`));
    process.exit(1);
  }
}
