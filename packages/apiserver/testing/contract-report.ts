/**
 * The contract suite by hand: `node testing/contract-report.ts [topic or case …] [--kubeconfig FILE]
 * [--assets DIRECTORY] [--allow-disruptive]`. Runs on the embedded server and, when one is given (also by KUBECONFIG
 * or KUBEBUILDER_ASSETS), on a real one; names every difference, every case that was not run, and which backends and tiers
 * were covered. `--steps` prints every step that differs on the embedded server, not only the first. `--given-only`
 * leaves the embedded server out.
 */
import { parseArgs } from 'node:util';
import { type RecordedCase, recordedCases } from './contract/case.ts';
import { type Tier, tierOf, tiers } from './contract/case-groups.ts';
import type { Outcome } from './contract/cluster-run.ts';
import { EmbeddedRun } from './contract/embedded-run.ts';
import { givenBackend } from './contract/given-backend.ts';
import { Tally } from './contract/tally.ts';
import { knownDifferences } from './contract/weights.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' },
    assets: { type: 'string' },
    steps: { type: 'boolean', default: false },
    'given-only': { type: 'boolean', default: false },
    'allow-disruptive': { type: 'boolean', default: false },
  },
});
const cases = recordedCases(...positionals);
const coverage: string[] = [];
let differences = 0;

const marks = { passed: '✔', failed: '✘', 'known difference': '≠', 'not run': '–' };

/** Prints what `replayAll` tells, then the counts. */
async function report(
  backend: string,
  replayAll: (tell: (recorded: RecordedCase, outcome: Outcome) => void) => Promise<void>,
): Promise<void> {
  console.log(`▸ ${backend}`);
  const tally = new Tally();
  const ran = new Set<Tier>();
  await replayAll((recorded, outcome) => {
    tally.add(recorded, outcome);
    if (outcome.result !== 'not run') ran.add(tierOf(recorded));
    if (outcome.result === 'failed') differences += 1;
    if (outcome.result !== 'passed')
      console.log(`${marks[outcome.result]} ${recorded.name}\n    ${outcome.why}`);
  });
  console.log(tally.lines().join('\n'));
  const missing = tiers.filter((tier) => !ran.has(tier));
  coverage.push(
    `${backend}: covered ${[...ran].join(', ') || 'nothing'}${missing.length === 0 ? '' : `; not covered ${missing.join(', ')}`}`,
  );
}

async function onEmbedded(run: EmbeddedRun, recorded: RecordedCase): Promise<Outcome> {
  const steps: string[] = [];
  const first = await run.replay(recorded, values.steps ? (found) => steps.push(found) : undefined);
  const known = knownDifferences[recorded.name];
  if (first === undefined && known === undefined) return { result: 'passed' };
  if (first === undefined)
    return { result: 'failed', why: 'passes now: remove it from known-differences.ts' };
  const why = steps.length === 0 ? first : steps.join('\n    ');
  return known === undefined
    ? { result: 'failed', why }
    : { result: 'known difference', why: `weight ${known.weight}: ${known.reason}\n    ${why}` };
}

if (!values['given-only']) {
  const embedded = await EmbeddedRun.start();
  await report('embedded', async (tell) => {
    for (const recorded of cases)
      tell(
        recorded,
        tierOf(recorded) === 'api'
          ? await onEmbedded(embedded, recorded)
          : { result: 'not run', why: 'no controllers run there (localcluster replays these)' },
      );
  });
  await embedded.stop();
}

const given = await givenBackend({
  kubeconfig: values.kubeconfig ?? (values.assets === undefined ? process.env['KUBECONFIG'] : undefined),
  assets: values.assets ?? process.env['KUBEBUILDER_ASSETS'],
  allowDisruptive: values['allow-disruptive'],
});
if (given === undefined)
  coverage.push(
    'a real cluster: not covered (set KUBECONFIG, or KUBEBUILDER_ASSETS to a directory of binaries)',
  );
else
  try {
    await report(given.name, (tell) => given.replayAll(cases, tell));
  } finally {
    await given.stop();
  }
console.log(coverage.map((line) => `▸ ${line}`).join('\n'));
process.exitCode = differences === 0 ? 0 : 1;
