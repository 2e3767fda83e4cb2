import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allocateAddress, gateway, parseSubnet } from './subnet.ts';

test('reads a subnet and names its gateway', () => {
  const subnet = parseSubnet('10.79.4.0/24');
  assert.equal(gateway(subnet), '10.79.4.1');
  assert.equal(allocateAddress(subnet, new Set()), '10.79.4.2');
  assert.equal(allocateAddress(subnet, new Set(['10.79.4.2'])), '10.79.4.3');
  assert.equal(allocateAddress(subnet, new Set(), '10.79.4.254'), '10.79.4.254');
});

test('refuses what is no usable subnet, and says why', () => {
  for (const [cidr, reason] of [
    ['10.0.0.0', /is not like/],
    ['10.0.0.0/30', /prefix 8 to 29/],
    ['10.0.0.300/24', /is not like/],
    ['10.0.0.5/24', /"10\.0\.0\.0\/24" is meant/],
    ['8.8.8.0/24', /not a private range/],
    ['172.32.0.0/16', /not a private range/],
  ] as const)
    assert.throws(() => parseSubnet(cidr), reason, cidr);
});

test('refuses addresses that are outside, the gateway, broadcast or taken', () => {
  const subnet = parseSubnet('192.168.7.0/29');
  for (const requested of ['192.168.7.1', '192.168.7.7', '192.168.8.2', 'x', '192.168.7.2.1'])
    assert.throws(() => allocateAddress(subnet, new Set(), requested), /not a host address/, requested);
  assert.throws(() => allocateAddress(subnet, new Set(['192.168.7.3']), '192.168.7.3'), /taken/);
});

test('addresses never repeat, and a full subnet says so', () => {
  fc.assert(
    fc.property(fc.integer({ min: 26, max: 29 }), (prefix) => {
      const subnet = parseSubnet(`10.1.2.0/${prefix}`);
      const taken = new Set<string>();
      const capacity = 2 ** (32 - prefix) - 3; // network, broadcast and gateway are not for hosts
      for (let index = 0; index < capacity; index++) {
        const address = allocateAddress(subnet, taken);
        assert.ok(!taken.has(address) && address !== gateway(subnet));
        taken.add(address);
      }
      assert.throws(() => allocateAddress(subnet, taken), /is full/);
    }),
  );
});
