import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { InvalidInput } from '../errors.ts';
import { compressHostlist, expandHostlist } from './hostlist.ts';

describe('expandHostlist', () => {
  const cases: readonly { reason: string; text: string; names: readonly string[] }[] = [
    { reason: 'nothing', text: '', names: [] },
    { reason: 'one name', text: 'login', names: ['login'] },
    { reason: 'a range', text: 'n[0-2]', names: ['n0', 'n1', 'n2'] },
    { reason: 'ranges and single numbers', text: 'n[0-1,5]', names: ['n0', 'n1', 'n5'] },
    { reason: 'padding is that of the first number', text: 'n[08-11]', names: ['n08', 'n09', 'n10', 'n11'] },
    { reason: 'no padding grows', text: 'n[9-10]', names: ['n9', 'n10'] },
    { reason: 'padding is outgrown', text: 'n[099-101]', names: ['n099', 'n100', 'n101'] },
    { reason: 'several brackets', text: 'r[0-1]n[1-2]', names: ['r0n1', 'r0n2', 'r1n1', 'r1n2'] },
    { reason: 'a suffix', text: 'n[1-2]-ib', names: ['n1-ib', 'n2-ib'] },
    { reason: 'several parts', text: 'a[1-2],b,c[3]', names: ['a1', 'a2', 'b', 'c3'] },
    { reason: 'a step', text: 'n[0-6/2]', names: ['n0', 'n2', 'n4', 'n6'] },
    { reason: 'order and duplicates are kept', text: 'n[3,1],n3', names: ['n3', 'n1', 'n3'] },
  ];
  for (const { reason, text, names } of cases) {
    test(reason, () => {
      assert.deepEqual(expandHostlist(text), names);
    });
  }

  for (const bad of [
    'n[1-2',
    'n1-2]',
    'n[[1]]',
    'n[]',
    'n[a]',
    'n[2-1]',
    'n[1-]',
    'n[1-4/0]',
    `n[${'9'.repeat(20)}]`,
  ]) {
    test(`"${bad}" is refused with a message`, () => {
      assert.throws(
        () => expandHostlist(bad),
        (error) => error instanceof InvalidInput && error.message.includes('hostlist'),
      );
    });
  }

  test('a list that would fill the memory is refused before it does', () => {
    assert.throws(() => expandHostlist('n[0-999999]m[0-999999]'), InvalidInput);
    assert.throws(() => expandHostlist('n[0-10]', 10), InvalidInput);
  });
});

describe('compressHostlist', () => {
  const cases: readonly { reason: string; names: readonly string[]; text: string }[] = [
    { reason: 'nothing', names: [], text: '' },
    { reason: 'one name', names: ['n1'], text: 'n1' },
    { reason: 'a run', names: ['n2', 'n1', 'n3'], text: 'n[1-3]' },
    { reason: 'runs and holes', names: ['n1', 'n2', 'n4', 'n9', 'n10'], text: 'n[1-2,4,9-10]' },
    { reason: 'padding', names: ['n08', 'n09', 'n10', 'n11'], text: 'n[08-11]' },
    { reason: 'padded and unpadded numbers stay apart', names: ['n1', 'n01'], text: 'n1,n01' },
    { reason: 'only the trailing number', names: ['r1n1', 'r1n2', 'r2n1'], text: 'r1n[1-2],r2n1' },
    { reason: 'names without a number', names: ['login', 'a'], text: 'a,login' },
    { reason: 'duplicates', names: ['n1', 'n1'], text: 'n1' },
  ];
  for (const { reason, names, text } of cases)
    test(reason, () => assert.equal(compressHostlist(names), text));

  test('a name that cannot stand in a list is refused', () => {
    for (const bad of ['', 'a,b', 'a b', 'a[1]', 'a\n'])
      assert.throws(() => compressHostlist([bad]), InvalidInput);
  });
});

const hostName = fc
  .tuple(
    fc.stringMatching(/^[a-z][a-z0-9-]{0,6}[a-z-]$/),
    fc.option(fc.tuple(fc.nat({ max: 20_000 }), fc.integer({ min: 0, max: 6 }))),
  )
  .map(([prefix, number]) =>
    number === null ? prefix : prefix + String(number[0]).padStart(number[1], '0'),
  );

test('property: compressing and expanding returns the same set', () => {
  fc.assert(
    fc.property(fc.array(hostName, { maxLength: 200 }), (names) => {
      const text = compressHostlist(names);
      const expanded = expandHostlist(text);
      assert.deepEqual(new Set(expanded), new Set(names));
      assert.equal(expanded.length, new Set(names).size);
      assert.equal(compressHostlist(expanded), text, 'canonical');
    }),
  );
});

test('property: the order of the names does not matter', () => {
  fc.assert(
    fc.property(fc.array(hostName, { maxLength: 50 }), (names) => {
      assert.equal(compressHostlist(names.toReversed()), compressHostlist(names));
    }),
  );
});

test('no range is longer than Slurm reads', () => {
  const names = Array.from({ length: 70_000 }, (_, index) => `n${index}`);
  assert.equal(compressHostlist(names), 'n[0-65535,65536-69999]');
});

test('100,000 hosts', () => {
  const names = expandHostlist('rack[00-99]-n[0000-0999]');
  assert.equal(names.length, 100_000);
  const text = compressHostlist(names);
  assert.deepEqual(expandHostlist(text), names);
});
