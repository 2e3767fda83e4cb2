import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { largestJobs, layOutNodes, nodeAt } from './node-map.ts';
import type { NodeRow } from './node-row.ts';

function node(key: string, over: Partial<NodeRow> = {}): NodeRow {
  return {
    key,
    use: 'idle',
    state: 'IDLE',
    open: true,
    reason: '',
    reasonBy: '',
    reasonAt: undefined,
    partitions: ['all'],
    features: [],
    block: '',
    cpus: 8,
    cpusUsed: 0,
    memory: 1000,
    memoryUsed: 0,
    gpus: 0,
    gpusUsed: 0,
    ...over,
  };
}

test('every node has a cell of its own inside the width, and is found under its centre', () => {
  const nodes = fc.uniqueArray(fc.nat(2000), { maxLength: 300 });
  fc.assert(
    fc.property(
      nodes,
      fc.integer({ min: 320, max: 1600 }),
      fc.integer({ min: 1, max: 30 }),
      (list, width, groups) => {
        const rows = list.map((each) => node(`n${each}`, { block: `b${each % groups}` }));
        const map = layOutNodes(rows, { width, groupOf: (row) => row.block });
        assert.equal(map.cells.size, rows.length);
        for (const { key } of rows) {
          const at = map.cells.get(key) ?? assert.fail(`${key} has no cell`);
          assert.ok(at.x >= 0 && at.x + map.cell <= width, `${key} is inside`);
          assert.equal(nodeAt(map, at.x + map.cell / 2, at.y + map.cell / 2), key);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('5,000 nodes in 100 blocks stay in natural order', () => {
  const rows = Array.from({ length: 5000 }, (_, at) => node(`n${at}`, { block: `b${at % 100}` }));
  const map = layOutNodes(rows, { width: 1200, groupOf: (row) => row.block });
  assert.deepEqual(
    map.groups.slice(0, 3).map(({ label }) => label),
    ['b0', 'b1', 'b2'],
  );
  assert.deepEqual(map.groups[0]?.nodes.slice(0, 3), ['n0', 'n100', 'n200']);
});

test('the largest job counts free GPUs of open nodes, and how many are in one block', () => {
  const rows = [
    node('a', { block: 'b0', gpus: 8 }),
    node('b', { block: 'b0', gpus: 8, gpusUsed: 6, use: 'mixed' }),
    node('c', { block: 'b1', gpus: 8, open: false }),
    node('d', { block: 'b1', gpus: 8 }),
    node('e', { block: 'b1', gpus: 8 }),
  ];
  const of = (size: number) => largestJobs(rows).find(({ gpusPerNode }) => gpusPerNode === size);
  assert.deepEqual(of(8), { gpusPerNode: 8, nodes: 3, nodesInOneBlock: 2, block: 'b1' });
  assert.equal(of(2)?.nodes, 4);
  assert.equal(of(0)?.nodes, 3);
});
