/** One test per recorded `controllers` exchange with a real Kubernetes, replayed on the embedded server with our controllers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordedCases, topicOf } from '@slurm-operator/apiserver/testing';
import { replayControllers } from '../../testing/replay-controllers.ts';

const cases = recordedCases('controllers').filter((recorded) => topicOf(recorded) === 'controllers');

test('all recorded cases of the topic are here', () => {
  assert.equal(cases.length, 30);
});

for (const recorded of cases)
  test(`${recorded.name}: ${recorded.why}`, async () => {
    const found = await replayControllers(recorded);
    assert.equal(found, undefined, found);
  });
