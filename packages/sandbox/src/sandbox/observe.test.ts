import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listeningPorts } from './observe.ts';

test('finds the listening ports of a /proc/net/tcp table', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1AA1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:0050 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
`;
  assert.deepEqual(listeningPorts(table), new Set([6817]));
});
