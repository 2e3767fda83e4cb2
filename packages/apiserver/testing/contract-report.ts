/** `node testing/contract-report.ts [topic or case …]`: replays recordings on the embedded server and prints what differs. */
import { recordedCases, topicOf } from './contract/case.ts';
import { EmbeddedRun } from './contract/embedded-run.ts';

const wanted = process.argv.slice(2);
const cases = recordedCases(...wanted).filter(
  (recorded) => wanted.length > 0 || topicOf(recorded) !== 'controllers',
);
const run = await EmbeddedRun.start();
const tally = new Map<string, { passed: number; failed: number }>();
for (const recorded of cases) {
  const found = await run.replay(recorded);
  const topic = tally.get(topicOf(recorded)) ?? { passed: 0, failed: 0 };
  tally.set(topicOf(recorded), topic);
  if (found === undefined) topic.passed += 1;
  else {
    topic.failed += 1;
    console.log(`✘ ${recorded.name}\n    ${found}`);
  }
}
await run.stop();
for (const [topic, { passed, failed }] of tally) console.log(`${topic}: ${passed} passed, ${failed} failed`);
