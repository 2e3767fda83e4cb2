/**
 * The contract suite by hand: `node testing/contract-report.ts [topic or case …] [--kubeconfig FILE]
 * [--assets DIRECTORY] [--allow-disruptive]`. Runs on the embedded server and, when one is given (also by KUBECONFIG
 * or KUBEBUILDER_ASSETS), on a real one; names every difference, and which backends and tiers were covered. `--steps`
 * prints every step that differs on the embedded server, not only the first.
 */
import { parseArgs } from 'node:util';
import { startAssets } from './contract/assets-backend.ts';
import { type RecordedCase, recordedCases, topicOf } from './contract/case.ts';
import { ClusterRun, type Outcome } from './contract/cluster-run.ts';
import { EmbeddedRun } from './contract/embedded-run.ts';
import { givenCluster } from './contract/given-cluster.ts';
import { knownDifferences } from './contract/known-differences.ts';
import { setOf } from './contract/recorded-set.ts';
import { type Tier, tierOf, tiers } from './contract/tiers.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' },
    assets: { type: 'string' },
    steps: { type: 'boolean', default: false },
    'allow-disruptive': { type: 'boolean', default: false },
  },
});
const cases = recordedCases(...positionals);
const coverage: string[] = [];
let differences = 0;

const marks = { passed: '✔', failed: '✘', 'known difference': '≠', 'not run': '–' };

async function report(
  backend: string,
  replay: (recorded: RecordedCase) => Promise<Outcome>,
  chosen: readonly RecordedCase[],
): Promise<void> {
  console.log(`▸ ${backend}`);
  const tally = new Map<string, Record<Outcome['result'], number>>();
  const none = { passed: 0, failed: 0, 'known difference': 0, 'not run': 0 };
  const ran = new Set<Tier>();
  for (const recorded of chosen) {
    const outcome = await replay(recorded);
    for (const key of [topicOf(recorded), `${setOf(recorded)} set`]) {
      const counts = tally.get(key) ?? { ...none };
      tally.set(key, counts);
      counts[outcome.result] += 1;
    }
    if (outcome.result !== 'not run') ran.add(tierOf(recorded));
    if (outcome.result === 'failed') differences += 1;
    if (outcome.result !== 'passed')
      console.log(`${marks[outcome.result]} ${recorded.name}\n    ${outcome.why}`);
  }
  const sets = ['first set', 'second set'].filter((key) => tally.has(key));
  for (const topic of [...[...tally.keys()].filter((key) => !sets.includes(key)), ...sets]) {
    const { passed, failed, 'known difference': known, 'not run': notRun } = tally.get(topic) ?? none;
    console.log(
      `${topic}: ${passed} passed, ${failed} failed${known === 0 ? '' : `, ${known} known differences`}${notRun === 0 ? '' : `, ${notRun} not run`}`,
    );
  }
  const missing = tiers.filter((tier) => !ran.has(tier));
  coverage.push(
    `${backend}: covered ${[...ran].join(', ') || 'nothing'}${missing.length === 0 ? '' : `; not covered ${missing.join(', ')}`}`,
  );
}

const embedded = await EmbeddedRun.start();
await report(
  'embedded',
  async (recorded): Promise<Outcome> => {
    const steps: string[] = [];
    const first = await embedded.replay(recorded, values.steps ? (found) => steps.push(found) : undefined);
    const known = knownDifferences[recorded.name];
    if (first === undefined && known === undefined) return { result: 'passed' };
    if (first === undefined)
      return { result: 'failed', why: 'passes now: remove it from known-differences.ts' };
    const why = steps.length === 0 ? first : steps.join('\n    ');
    return known === undefined
      ? { result: 'failed', why }
      : { result: 'known difference', why: `weight ${known.weight}: ${known.reason}\n    ${why}` };
  },
  cases.filter((recorded) => tierOf(recorded) === 'api'),
);
await embedded.stop();

const kubeconfig = values.kubeconfig ?? process.env['KUBECONFIG'];
const assetsDirectory = values.assets ?? process.env['KUBEBUILDER_ASSETS'];
const assets =
  kubeconfig === undefined && assetsDirectory !== undefined ? await startAssets(assetsDirectory) : undefined;
const given = kubeconfig === undefined ? assets?.backend : givenCluster(kubeconfig);
if (given === undefined)
  coverage.push(
    'a real cluster: not covered (set KUBECONFIG, or KUBEBUILDER_ASSETS to a directory of binaries)',
  );
else {
  // Binaries that we started ourselves are nobody's cluster: nothing there can be disrupted.
  const run = await ClusterRun.start(given, values['allow-disruptive'] || assets !== undefined);
  try {
    await report(given.name, (recorded) => run.replay(recorded), cases);
  } finally {
    await run.stop();
    await assets?.stop();
  }
}
console.log(coverage.map((line) => `▸ ${line}`).join('\n'));
process.exitCode = differences === 0 ? 0 : 1;
