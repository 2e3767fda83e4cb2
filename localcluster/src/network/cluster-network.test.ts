import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseBlock } from './cluster-network.ts';

const none: ReadonlySet<number> = new Set();

test('the first block that neither a route nor a quicker cluster has', () => {
  assert.equal(chooseBlock('default via 192.168.1.1 dev eth0', none), 130);
  assert.equal(chooseBlock('10.130.0.0/16 via 10.130.255.2 dev lc130\nlocal 10.131.0.1 dev x', none), 132);
  assert.equal(chooseBlock('10.130.0.0/16 dev x', new Set([131])), 132);
  assert.equal(chooseBlock('broadcast 210.130.0.255 dev x', none), 130, 'another network that ends alike');
});

test('none is left when all are in use', () => {
  const all = Array.from({ length: 71 }, (_, index) => `10.${130 + index}.0.0/16 dev x`).join('\n');
  assert.equal(chooseBlock(all, none), undefined);
});
