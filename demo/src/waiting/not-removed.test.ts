import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notRemoved, type Remaining } from './not-removed.ts';
import { showLine } from './wait-report.ts';

const gone = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const remaining = (kind: string, metadata: object, more: object = {}): Remaining => ({
  kind,
  object: { apiVersion: 'v1', kind, metadata: { name: 'a', ...metadata }, ...more },
});

for (const [reason, object, expected] of [
  ['what is not being deleted says so', remaining('Token', {}), 'Token a: is not deleted yet'],
  [
    'a NodeSet that drains quotes its Progressing condition and its finalizers',
    remaining(
      'NodeSet',
      { ...gone, finalizers: ['slinky.slurm.net/drain'] },
      {
        status: {
          conditions: [
            { type: 'Ready', status: 'False', reason: 'Deleting', message: 'is deleted' },
            { type: 'Progressing', status: 'True', reason: 'Draining', message: 'job 7 runs on a-0' },
          ],
        },
      },
    ),
    'NodeSet a: is being deleted: Draining: job 7 runs on a-0 (finalizers: slinky.slurm.net/drain)',
  ],
  [
    'a pod names its node',
    remaining('Pod', gone, { spec: { nodeName: 'n1' } }),
    'Pod a: its containers are being stopped on node n1',
  ],
  [
    'a namespace quotes its conditions',
    remaining('Namespace', gone, {
      status: {
        conditions: [
          { type: 'NamespaceDeletionContentFailure', status: 'False', message: 'no' },
          { type: 'NamespaceContentRemaining', status: 'True', message: 'pods. has 1 resource instances' },
        ],
      },
    }),
    'Namespace a: pods. has 1 resource instances',
  ],
] as const)
  test(reason, () => {
    assert.deepEqual(notRemoved([object]).map(showLine), [expected]);
  });

test('a namespace whose content cannot be deleted is a fault', () => {
  const conditions = [{ type: 'NamespaceDeletionDiscoveryFailure', status: 'True', message: 'unavailable' }];
  const [line] = notRemoved([remaining('Namespace', gone, { status: { conditions } })]);
  assert.equal(line?.isFault, true);
});
