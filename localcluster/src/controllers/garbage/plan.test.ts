import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineResource } from '@slurm-operator/kube';
import type { AnyObject } from '../../objects/objects.ts';
import { OwnerGraph } from './graph.ts';
import { planGarbage } from './plan.ts';

const maps = defineResource({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true });

interface Fields {
  readonly owners?: readonly { uid: string; block?: boolean }[];
  readonly namespace?: string;
  readonly deleting?: boolean;
  readonly finalizers?: readonly string[];
}

function build(objects: Record<string, Fields>): OwnerGraph {
  const graph = new OwnerGraph();
  for (const [uid, { owners = [], namespace = 'ns', deleting = false, finalizers = [] }] of Object.entries(
    objects,
  ))
    graph.put(maps, {
      metadata: {
        name: uid,
        uid,
        namespace,
        finalizers,
        ownerReferences: owners.map((owner) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: owner.uid,
          uid: owner.uid,
          ...(owner.block === true ? { blockOwnerDeletion: true } : {}),
        })),
        ...(deleting ? { deletionTimestamp: 'now' } : {}),
      },
    } as unknown as AnyObject);
  return graph;
}

function plan(graph: OwnerGraph, uid: string, absent: readonly string[] = []) {
  const node = graph.get(uid);
  assert.ok(node !== undefined);
  return planGarbage(node, graph, new Set(absent));
}

test('an object whose owner stands is left alone; one without owners too', () => {
  const graph = build({ owner: {}, child: { owners: [{ uid: 'owner' }] } });
  assert.equal(plan(graph, 'child').do, 'nothing');
  assert.equal(plan(graph, 'owner').do, 'nothing');
});

test('an owner is not considered absent because of the cache alone', () => {
  const graph = build({ child: { owners: [{ uid: 'late' }] } });
  const first = plan(graph, 'child');
  assert.deepEqual(first.do === 'askFor' && first.owners.map((owner) => owner.uid), ['late']);
  assert.deepEqual(plan(graph, 'child', ['late']), { do: 'delete', propagation: 'Background' });
});

test('an owner in another namespace is none', () => {
  const graph = build({ owner: { namespace: 'other' }, child: { owners: [{ uid: 'owner' }] } });
  assert.equal(plan(graph, 'child').do, 'askFor');
});

test('with one owner left only the reference to the other goes', () => {
  const graph = build({ a: {}, child: { owners: [{ uid: 'a' }, { uid: 'gone' }] } });
  assert.deepEqual(plan(graph, 'child', ['gone']), { do: 'dropOwners', uids: ['gone'] });
});

test('foreground: the owner waits for what blocks it, and only for that', () => {
  const deleting = { deleting: true, finalizers: ['foregroundDeletion'] };
  const blocked = build({
    owner: deleting,
    child: { owners: [{ uid: 'owner', block: true }], deleting: true },
  });
  assert.equal(plan(blocked, 'owner').do, 'nothing');
  const free = build({ owner: deleting, child: { owners: [{ uid: 'owner' }], deleting: true } });
  assert.deepEqual(plan(free, 'owner'), { do: 'removeFinalizer', finalizer: 'foregroundDeletion' });
  const fresh = build({ owner: deleting, child: { owners: [{ uid: 'owner', block: true }] } });
  assert.equal(plan(fresh, 'owner').do, 'deleteDependents');
  assert.deepEqual(plan(fresh, 'child'), { do: 'delete', propagation: 'Background' });
});

test('foreground goes down the tree: a child with children of its own waits for them', () => {
  const graph = build({
    owner: { deleting: true, finalizers: ['foregroundDeletion'] },
    child: { owners: [{ uid: 'owner', block: true }] },
    grandchild: { owners: [{ uid: 'child', block: true }] },
  });
  assert.deepEqual(plan(graph, 'child'), { do: 'delete', propagation: 'Foreground' });
});

test('orphan: references are taken off before the owner goes', () => {
  const graph = build({
    owner: { deleting: true, finalizers: ['orphan'] },
    child: { owners: [{ uid: 'owner' }] },
  });
  assert.equal(plan(graph, 'owner').do, 'orphanDependents');
  graph.remove('child');
  assert.deepEqual(plan(graph, 'owner'), { do: 'removeFinalizer', finalizer: 'orphan' });
});

test('an object that is removed leaves no trace in the graph', () => {
  const graph = build({ owner: {}, child: { owners: [{ uid: 'owner' }] } });
  graph.remove('child');
  assert.deepEqual(graph.dependentsOf('owner'), []);
});
