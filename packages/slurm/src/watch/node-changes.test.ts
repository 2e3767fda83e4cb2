import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readNode, type WireNode } from '../adapters/read-node.ts';
import type { SlurmNode } from '../model/node.ts';
import { NodeComparison, type NodeFacet, nodeFacets, workLeft } from './node-changes.ts';

const base: WireNode = {
  name: 'n0',
  state: ['IDLE'],
  features: ['a', 'b'],
  partitions: ['all'],
  free_mem: { set: true, number: 1 },
};
/** In two pieces, as a long list is compared. */
function nodeChanges(before: ReadonlyMap<string, SlurmNode>, list: readonly SlurmNode[]) {
  const comparison = new NodeComparison(before);
  comparison.add(list.slice(0, 2));
  comparison.add(list.slice(2));
  return comparison.finish();
}

const node = (fields: Partial<WireNode> = {}) => readNode({ ...base, ...fields });

const cases: readonly { reason: string; fields: Partial<WireNode>; facets: readonly NodeFacet[] }[] = [
  { reason: 'nothing', fields: {}, facets: [] },
  { reason: 'a drain', fields: { state: ['IDLE', 'DRAIN'], reason: 'x' }, facets: ['state', 'reason'] },
  { reason: 'the order of flags is no change', fields: { state: ['IDLE'] }, facets: [] },
  { reason: 'work', fields: { state: ['MIXED'], alloc_cpus: 2 }, facets: ['state', 'allocation'] },
  { reason: 'a ping', fields: { free_mem: { set: true, number: 2 }, cpu_load: 7 }, facets: ['load'] },
  {
    reason: 'a new slurmd',
    fields: { slurmd_start_time: { set: true, number: 5 }, address: 'b' },
    facets: ['registration', 'address'],
  },
  { reason: 'features', fields: { features: ['a'] }, facets: ['features'] },
  { reason: 'comment', fields: { comment: 'x' }, facets: ['comment'] },
  { reason: 'extra', fields: { extra: 'x' }, facets: ['extra'] },
  { reason: 'topology', fields: { topology: 'x' }, facets: ['placement'] },
  { reason: 'more memory', fields: { real_memory: 9 }, facets: ['capacity'] },
];
for (const { reason, fields, facets } of cases)
  test(`facets: ${reason}`, () => assert.deepEqual(nodeFacets(node(), node(fields)), new Set(facets)));

test('every field of a node belongs to a facet', () => {
  const before = node();
  for (const field of Object.keys(before) as (keyof SlurmNode)[]) {
    if (field === 'name') continue;
    const other = field === 'state' ? node({ state: ['DOWN'] }).state : ['something else'];
    assert.ok(nodeFacets(before, { ...before, [field]: other }).size > 0, field);
  }
});

const wireNodes = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('n0', 'n1', 'n2', 'n3', 'n4'),
    state: fc.subarray(['IDLE', 'DRAIN', 'MIXED']),
    comment: fc.constantFrom('', 'x'),
  }),
  { selector: ({ name }) => name },
);

test('property: the changes convert one list to the other, and unchanged nodes keep their identity', () => {
  fc.assert(
    fc.property(wireNodes, wireNodes, (first, second) => {
      const before = nodeChanges(new Map(), first.map(readNode)).nodes;
      const { nodes, changes } = nodeChanges(before, second.map(readNode));
      const replayed = new Map(before);
      for (const change of changes) {
        if (change.type === 'removed') replayed.delete(change.node.name);
        else replayed.set(change.node.name, change.node);
      }
      assert.deepEqual(replayed, new Map([...replayed].map(([name]) => [name, nodes.get(name)])));
      assert.equal(replayed.size, nodes.size);
      const touched = new Set(changes.map((change) => change.node.name));
      for (const [name, kept] of nodes) if (!touched.has(name)) assert.equal(kept, before.get(name));
    }),
  );
});

test('a job left a node: fewer allocated CPUs, no longer busy, or no node', () => {
  const left = (from: Partial<WireNode>, to: Partial<WireNode> | undefined) =>
    workLeft(nodeChanges(new Map([['n0', node(from)]]), to === undefined ? [] : [node(to)]).changes);
  const busy = { state: ['MIXED'], alloc_cpus: 2 };
  assert.deepEqual(left(busy, { state: ['MIXED'], alloc_cpus: 1 }), ['n0']);
  assert.deepEqual(left(busy, { state: ['DOWN'], alloc_cpus: 2 }), ['n0']);
  assert.deepEqual(left(busy, undefined), ['n0']);
  assert.deepEqual(left(busy, { state: ['ALLOCATED'], alloc_cpus: 4 }), []);
  assert.deepEqual(left(busy, { ...busy, comment: 'x' }), []);
  assert.deepEqual(left({}, busy), []);
  assert.deepEqual(workLeft(nodeChanges(new Map(), [node(busy)]).changes), []);
});
