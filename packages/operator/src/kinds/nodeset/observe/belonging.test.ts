import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import type { Live, Pod } from '@slurm-operator/kube';
import { aPod } from '@slurm-operator/kube/testing';
import { belonging } from './belonging.ts';
import { observeWorker } from './observe-worker.ts';

const nodeSet = { metadata: { name: 'w', namespace: 'slurm', uid: 'set' }, spec: {} } as unknown as NodeSet;
const ours = { 'app.kubernetes.io/name': 'slurmd', 'app.kubernetes.io/instance': 'w' };

function pod(
  name: string,
  over: { owner?: string; labels?: Record<string, string>; deleted?: boolean } = {},
): Live<Pod> {
  return aPod({
    metadata: {
      name,
      uid: name,
      labels: over.labels ?? ours,
      ...(over.deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ownerReferences:
        over.owner === undefined
          ? []
          : [{ apiVersion: 'v1', kind: 'NodeSet', name: 'w', uid: over.owner, controller: true }],
    },
    spec: { containers: [{ name: 'slurmd' }] },
  });
}

test('a pod is a worker, waits to be one, is let go, or only stands in the way', () => {
  const changed = { ...ours, 'app.kubernetes.io/instance': 'mine' };
  const cases: readonly [reason: string, pod: Live<Pod>, where: string | undefined][] = [
    ['controlled by us', pod('w-0', { owner: 'set' }), 'workers'],
    ['controlled by us under other labels', pod('w-0', { owner: 'set', labels: changed }), 'released'],
    ['the same, being deleted', pod('w-0', { owner: 'set', labels: changed, deleted: true }), 'workers'],
    ['without a controller, with our labels', pod('w-0'), 'orphans'],
    ['the same, being deleted', pod('w-0', { deleted: true }), 'foreignPods'],
    ['let go before', pod('w-0', { labels: changed }), 'foreignPods'],
    ['controlled by another owner', pod('w-0', { owner: 'another' }), undefined],
    ['a name that no worker of ours has', pod('w-tools-1'), undefined],
    ['another set’s name', pod('x-0'), undefined],
  ];
  for (const [reason, one, where] of cases) {
    const found = belonging([one], nodeSet, (each) => observeWorker(each, () => true));
    const places = Object.entries(found).filter(([, list]) => list.length > 0);
    assert.deepEqual(
      places.map(([place]) => place),
      where === undefined ? [] : [where],
      reason,
    );
  }
});
