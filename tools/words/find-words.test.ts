import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findWords, lineAt, type WordRule } from './find-words.ts';

const rules: WordRule[] = [
  { words: ['anew'], write: 'again' },
  { words: ['last words'], write: 'last log line' },
  { words: ['nobody'], write: 'none', allow: ['nobody:x:65534'] },
];
const found = (text: string) => findWords(text, rules).map(({ word, offset }) => `${word}@${offset}`);

test('finds a word in prose in any case, and not inside another word', () => {
  assert.deepEqual(found('Anew, and ANEW; renewal, anewer'), ['anew@0', 'anew@10']);
});

test('finds words and phrases in camelCase, kebab-case and UPPER_CASE names', () => {
  assert.deepEqual(found('const lastWords = readAnew()'), ['last words@6', 'anew@22']);
  assert.deepEqual(found("import './last-words.ts'; LAST_WORDS"), ['last words@10', 'last words@26']);
});

test('finds a phrase that is broken over lines of a comment', () => {
  assert.deepEqual(found('/**\n * its last\n * words\n */'), ['last words@11']);
  assert.deepEqual(found('the last. Words follow'), []);
});

test('accepts a match inside text that the rule allows', () => {
  assert.deepEqual(found('nobody:x:65534:65534'), []);
  assert.deepEqual(found('nobody knows'), ['nobody@0']);
});

test('counts lines from 1', () => {
  assert.equal(lineAt('a\nb anew', 4), 2);
});
