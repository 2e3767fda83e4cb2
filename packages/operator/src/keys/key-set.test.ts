import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonHash, following, formatKeySet, loginHash, parseKeySet } from './key-set.ts';

const two = {
  keys: ['a', 'b'],
  signing: 'a',
  since: Date.parse('2026-01-01T00:00:00Z'),
  used: false,
  before: ['x'],
};

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
  assert.deepEqual([daemonHash(one), loginHash(one)], ['a', 'a']);
  const later = { ...two, signing: 'b' };
  assert.notEqual(daemonHash(two), daemonHash(later));
  assert.equal(loginHash(two), loginHash(later));
  assert.notEqual(loginHash(two), loginHash({ keys: ['b', 'c'], signing: 'b' }));
});

test('a set names those before it, each once and at most eight', () => {
  const of = (...keys: string[]) => ({ keys, signing: keys[0] ?? '', since: 0, used: true });
  const both = following(of('a', 'b'), of('a'));
  assert.deepEqual(both.before, ['a']);
  const back = following(of('a'), both);
  assert.deepEqual(back.before, [daemonHash(both), loginHash(both)]);
  const long = ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'].reduce(
    (set, key) => following(of(key), set),
    back,
  );
  assert.deepEqual(long.before, ['k', 'j', 'i', 'h', 'g', 'f', 'e', 'd']);
});
