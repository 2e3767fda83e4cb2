/** Names that two NodeSets of one Slurm would both give to their workers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import { type OfCluster, takenNames, yieldedNames } from './taken-names.ts';

const machines = new Map(
  ['n1', 'n2', 'gpu-3'].map((name) => [name, { metadata: { name, labels: { rack: name } } }] as const),
);

interface Given {
  readonly hostname?: string;
  readonly replicas?: number;
  readonly max?: number;
  readonly mode?: 'StatefulSet' | 'DaemonSet';
  readonly padding?: number;
  readonly controller?: string;
  readonly rack?: string;
}

function set(
  name: string,
  age: number,
  { hostname, replicas = 12, max, mode = 'StatefulSet', padding = 0, controller = 'slurm', rack }: Given = {},
): NodeSet {
  return {
    metadata: {
      name,
      uid: name,
      namespace: 'slurm',
      creationTimestamp: new Date(1e12 - age * 1000).toISOString(),
    },
    spec: {
      scalingMode: mode,
      replicas,
      ...(max && { autoscale: { max } }),
      ordinalPadding: padding,
      controllerRef: { name: controller },
      template: { spec: { ...(hostname && { hostname }), ...(rack && { nodeSelector: { rack } }) } },
    },
  } as unknown as NodeSet;
}

const pod = (owner: string, hostname: string, age = 1) => ({
  metadata: {
    name: hostname,
    ownerReferences: [{ uid: owner, controller: true }],
    creationTimestamp: new Date(1e12 - age * 1000).toISOString(),
  },
  spec: { hostname },
});

function taken(
  mine: NodeSet,
  others: readonly NodeSet[],
  pods: readonly object[] = [],
): Record<string, string> {
  const cluster: OfCluster = {
    nodeSets: [mine, ...others],
    pods: pods as never,
    nodes: machines as never,
    hostnameOn: (node) => node,
  };
  return Object.fromEntries(takenNames(mine, cluster));
}

describe('a name belongs to the set that was created first', () => {
  const short = set('a', 2, { hostname: 'gpu-' });
  test('gpu- and gpu-1 both yield gpu-10', () => {
    assert.deepEqual(taken(set('b', 1, { hostname: 'gpu-1', replicas: 2 }), [short]), {
      'gpu-10': 'a',
      'gpu-11': 'a',
    });
  });
  test('also while the workers of an autoscaled one sleep', () => {
    const sleeping = set('a', 2, { hostname: 'gpu-', replicas: 1, max: 12 });
    assert.deepEqual(taken(set('b', 1, { hostname: 'gpu-1', replicas: 2 }), [sleeping]), {
      'gpu-10': 'a',
      'gpu-11': 'a',
    });
  });
  test('the older one gives nothing up', () => {
    assert.deepEqual(taken(short, [set('b', 1, { hostname: 'gpu-1', replicas: 2 })]), {});
  });
  test('padding keeps them apart', () => {
    const padded = set('b', 1, { hostname: 'gpu-1', padding: 3 });
    assert.deepEqual(taken(padded, [short]), {});
  });
  test('two sets for the same machines', () => {
    const daemons = set('a', 2, { mode: 'DaemonSet' });
    assert.deepEqual(taken(set('b', 1, { mode: 'DaemonSet' }), [daemons]), {
      n1: 'a',
      n2: 'a',
      'gpu-3': 'a',
    });
  });
  test('two sets for different machines', () => {
    const daemons = set('a', 2, { mode: 'DaemonSet', rack: 'n1' });
    assert.deepEqual(taken(set('b', 1, { mode: 'DaemonSet' }), [daemons]), { n1: 'a' });
  });
  test('a machine that is called like a worker', () => {
    const daemons = set('b', 1, { mode: 'DaemonSet' });
    assert.deepEqual(taken(short, [set('c', 3, { mode: 'DaemonSet' })]), { 'gpu-3': 'c' });
    assert.equal(taken(daemons, [short])['gpu-3'], 'a');
  });
  test('another Slurm', () => {
    assert.deepEqual(taken(set('b', 1, { hostname: 'gpu-', controller: 'theirs' }), [short]), {});
  });
});

describe('a name belongs to the set that has a pod of it', () => {
  const young = set('b', 1, { hostname: 'gpu-1', replicas: 1 });
  const old = set('a', 2, { hostname: 'gpu-' });
  test('although the other set is older', () => {
    const pods = [pod('b', 'gpu-10')];
    assert.deepEqual(taken(old, [young], pods), { 'gpu-10': 'b' });
    assert.equal(taken(young, [old], pods)['gpu-10'], undefined);
  });
  test('where both have one, to the older pod', () => {
    const pods = [pod('b', 'gpu-10', 1), pod('a', 'gpu-10', 9)];
    assert.equal(taken(young, [old], pods)['gpu-10'], 'a');
    assert.equal(taken(old, [young], pods)['gpu-10'], undefined);
  });
});

describe('machines that two sets in DaemonSet mode select belong to the older one', () => {
  const old = set('a', 2, { mode: 'DaemonSet', rack: 'n1' });
  const young = set('b', 1, { mode: 'DaemonSet' });
  const pods = [pod('b', 'n1', 9)];
  const cluster = (ownerOfRecord?: string): OfCluster => ({
    nodeSets: [old, young],
    pods: pods as never,
    nodes: machines as never,
    hostnameOn: (node) => node,
    ownerOfRecord: () => ownerOfRecord,
  });
  test('although the younger one has a worker there, which it gives up', () => {
    assert.deepEqual([...yieldedNames(young, cluster())], ['n1']);
    assert.deepEqual([...yieldedNames(old, cluster())], []);
    assert.equal(taken(young, [old], pods)['n1'], 'a');
    assert.equal(taken(old, [young], pods)['n1'], 'b', 'until that worker is gone');
  });
  test('which waits for the record in Slurm as well', () => {
    const without = { ...cluster('b'), pods: [] };
    assert.equal(takenNames(old, without).get('n1'), 'b');
    assert.equal(takenNames(old, { ...without, ownerOfRecord: () => 'a' }).get('n1'), undefined);
  });
  test('but for one that is being deleted, of another Slurm, or in the other mode', () => {
    const others = [
      { ...old, metadata: { ...old.metadata, deletionTimestamp: 'now' } },
      set('a', 2, { mode: 'DaemonSet', controller: 'theirs' }),
      set('a', 2, { hostname: 'n', replicas: 3 }),
    ] as NodeSet[];
    for (const other of others)
      assert.equal(yieldedNames(young, { ...cluster(), nodeSets: [other, young] }).size, 0);
  });
});
