import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeRow, NodeUse } from '../live/node-row.ts';
import { NodeHistory } from './node-history.ts';

const row = (key: string, use: NodeUse, reason = '') => ({ key, use, reason }) as NodeRow; // the fields that are read
const pair = (key: string, from: NodeUse, to: NodeUse, reason = '') =>
  [row(key, from), row(key, to, reason)] as const;

test('nodes that changed in the same way at once are one entry; jobs that come and go are none', () => {
  const history = new NodeHistory();
  history.record(1, [
    pair('n1', 'idle', 'down', 'Not responding'),
    pair('n2', 'idle', 'down', 'Not responding'),
    pair('n3', 'mixed', 'draining', 'disk'),
    pair('n4', 'idle', 'allocated'),
    pair('n5', 'idle', 'idle'),
    [undefined, row('n6', 'asleep')],
    [row('n7', 'down'), undefined],
  ]);
  assert.deepEqual(history.changes, [
    { at: 1, from: 'idle', to: 'down', reason: 'Not responding', count: 2, nodes: 'n[1-2]' },
    { at: 1, from: 'mixed', to: 'draining', reason: 'disk', count: 1, nodes: 'n3' },
    { at: 1, from: 'new', to: 'asleep', reason: '', count: 1, nodes: 'n6' },
    { at: 1, from: 'down', to: 'gone', reason: '', count: 1, nodes: 'n7' },
  ]);
});

test('the oldest changes are forgotten, and long lists are cut off', () => {
  const history = new NodeHistory();
  for (let at = 0; at < 2_000; at += 1) history.record(at, [pair('n1', 'idle', 'down', String(at))]);
  assert.deepEqual([history.changes.length, history.changes[0]?.at], [500, 1_500]);
  history.record(
    2_000,
    Array.from({ length: 20_000 }, (_, at) => pair(`host-${(at * 7919) % 100_003}`, 'idle', 'down')),
  );
  const last = history.changes.at(-1);
  assert.equal(last?.count, 20_000);
  assert.ok((last?.nodes.length ?? 0) <= 201);
});
