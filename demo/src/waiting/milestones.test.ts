import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Evidence } from './evidence.ts';
import { milestones } from './milestones.ts';

const pod = (name: string, restarts: number): Evidence =>
  ({
    objects: [],
    claims: [],
    deployments: [],
    events: [],
    pods: [
      {
        metadata: { name, generateName: 'web-' },
        spec: { nodeName: 'n1' },
        status: {
          containerStatuses: [{ name: 'c', ready: false, restartCount: restarts, state: { running: {} } }],
        },
      },
    ],
  }) as never;

test('a container that starts again, in this pod or in the next of its Deployment, is no progress', () => {
  assert.deepEqual(milestones(pod('web-1', 0)), milestones(pod('web-1', 5)));
  assert.deepEqual(milestones(pod('web-1', 0)), milestones(pod('web-2', 0)));
  assert.deepEqual(milestones(pod('web-1', 0)), ['pod web- is scheduled', 'pod web-: c has started']);
});
