/** One test per recorded exchange with a real Kubernetes API server, replayed on the embedded one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { recordedCases, topicOf } from './contract/case.ts';
import { type Tier, tierOf, tiers } from './contract/case-groups.ts';
import { EmbeddedRun } from './contract/embedded-run.ts';
import { knownDifferences } from './contract/weights.ts';

/** Topics of the tier `api`; `controllers` needs controllers beside the server. */
const cases = recordedCases().filter((recorded) => topicOf(recorded) !== 'controllers');
let run: EmbeddedRun;
before(async () => {
  run = await EmbeddedRun.start();
});
after(() => run.stop());

for (const recorded of cases)
  test(`${recorded.name}: ${recorded.why}`, async () => {
    const found = await run.replay(recorded);
    const known = knownDifferences[recorded.name];
    if (known === undefined) assert.equal(found, undefined, found);
    else
      assert.notEqual(
        found,
        undefined,
        `${recorded.name} is listed in known-differences.ts (${known.reason}) but passes now: take it off the list`,
      );
  });

test('covered here: embedded server, tier api; not covered here: tiers controllers and nodes, a given cluster', (t) => {
  const count = (tier: Tier) => recordedCases().filter((recorded) => tierOf(recorded) === tier).length;
  assert.equal(count('api'), cases.length, 'every case of the tier was replayed');
  const elsewhere = tiers.filter((tier) => tier !== 'api').map((tier) => `${tier} ${count(tier)}`);
  t.diagnostic(`api ${cases.length} replayed; ${elsewhere.join(', ')} are replayed by localcluster`);
});

test('every known difference names a recorded case', () => {
  const names = new Set(recordedCases().map(({ name }) => name));
  assert.deepEqual(
    Object.keys(knownDifferences).filter((name) => !names.has(name)),
    [],
  );
});
