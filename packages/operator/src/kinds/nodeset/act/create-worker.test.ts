import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { app, label } from '@slurm-operator/api';
import { AlreadyExistsError, type Client, NotOwnedError } from '@slurm-operator/kube';
import { aController, aNodeSet } from '../../../../testing/objects.ts';
import { observed } from '../../../../testing/observed.ts';
import { workerTemplate } from '../objects/worker-template.ts';
import type { Blueprint } from './blueprint.ts';
import { createWorker } from './create-worker.ts';

const claims = [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }];
const nodeSet = aNodeSet({ volumeClaimTemplates: claims }, { name: 'w' });
const defaults = { clusterDomain: 'cluster.local', defaultImage: 'slurmd:26.05' };
const blueprint: Blueprint = {
  nodeSet,
  template: workerTemplate(nodeSet, aController(), defaults),
  revision: 'r1',
};
const there = new AlreadyExistsError('it is there', { status: 409 });

/** Makes the worker of ordinal 0; `live` is the pod that has its name already, if any. */
async function make(existing: readonly string[], live?: object | 'gone') {
  const made: string[] = [];
  const client = {
    create: async (resource: { plural: string }, object: { metadata: { name: string } }) => {
      made.push(object.metadata.name);
      if (resource.plural === 'pods' ? live !== undefined : existing.includes('another try made it'))
        throw there;
    },
    list: async () => ({ items: live === undefined || live === 'gone' ? [] : [live] }),
  } as unknown as Client;
  const slot = { mode: 'StatefulSet', ordinal: 0 } as const;
  await createWorker(
    { kind: 'create-worker', slot },
    observed([], []),
    new Set(existing),
    blueprint,
    client,
    AbortSignal.timeout(60_000),
  );
  return made;
}

test('claims come before the pod, and only those that are not there', async () => {
  assert.deepEqual(await make([]), ['data-w-0', 'w-0']);
  assert.deepEqual(await make(['data-w-0']), ['w-0']);
  assert.deepEqual(await make(['another try made it']), ['data-w-0', 'w-0']);
});

describe('a pod of that name that is there already', () => {
  const live = (uid: string, labels: object) => ({
    metadata: { name: 'w-0', labels, ownerReferences: [{ uid, controller: true }] },
  });
  const worker = { [label.name]: app.worker };
  const ours = nodeSet.metadata.uid ?? '';
  test('was made by an earlier try', async () =>
    assert.deepEqual(await make(['data-w-0'], live(ours, worker)), ['w-0']));
  test('has gone meanwhile', async () => assert.deepEqual(await make(['data-w-0'], 'gone'), ['w-0']));
  for (const [reason, pod] of [
    ['is ours, but would never be seen without our labels', live(ours, {})],
    ['has another owner', live('another', worker)],
  ] as const)
    test(reason, () => assert.rejects(make(['data-w-0'], pod), NotOwnedError));
});
