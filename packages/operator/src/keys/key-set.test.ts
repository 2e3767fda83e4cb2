import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientHash, daemonHash, formatKeySet, parseKeySet } from './key-set.ts';

const two = { keys: ['a', 'b'], signing: 'a', since: Date.parse('2026-01-01T00:00:00Z'), used: false };

test('a set of keys is read as it was written, and anything else is no set', () => {
  assert.deepEqual(parseKeySet(formatKeySet(two)), two);
  for (const text of [
    undefined,
    '',
    'no JSON',
    'null',
    '{}',
    '{"keys":["a"],"signing":"b","since":"2026-01-01T00:00:00Z"}',
    '{"keys":"a","signing":"a","since":"2026-01-01T00:00:00Z"}',
    '{"keys":["a"],"signing":"a","since":"yesterday"}',
  ])
    assert.equal(parseKeySet(text), undefined, text);
});

test('with one key the digest is that of the key; with two, who only starts once ignores which one signs', () => {
  const one = { keys: ['a'], signing: 'a' };
  assert.deepEqual([daemonHash(one), clientHash(one)], ['a', 'a']);
  const later = { ...two, signing: 'b' };
  assert.notEqual(daemonHash(two), daemonHash(later));
  assert.equal(clientHash(two), clientHash(later));
  assert.notEqual(clientHash(two), clientHash({ keys: ['b', 'c'], signing: 'b' }));
});
