/** A cast that switches the type checker off (`as unknown as T`, `as never`) has its reason in a comment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTest, readSources } from './sources.ts';

const cast = /\bas unknown as\b|\bas never\b/;
const isComment = (line: string): boolean => /^\s*(?:\/\/|\/\*\*|\*)/.test(line);

/** The lines with such a cast and without a comment on the same line or on the line above it. */
function unexplained(text: string): number[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const [code = '', ...comment] = line.split('//');
    if (isComment(line) || !cast.test(code) || comment.length > 0) return [];
    return isComment(lines[index - 1] ?? '') ? [] : [index + 1];
  });
}

test('every cast outside of tests that switches the type checker off has a reason', () => {
  const found = readSources([
    '{packages/*,localcluster,images,charts,demo,e2e}/src/**/*.{ts,tsx}',
    'tools/**/*.ts',
  ])
    .filter(({ file }) => !isTest(file))
    .flatMap(({ file, text }) => unexplained(text).map((line) => `${file}:${line}`));
  assert.deepEqual(found, [], 'explain it in a comment, or give the value its type');
});

test('detects a planted cast, and accepts one with a reason', () => {
  assert.deepEqual(unexplained('const a = 1;\nconst b = a as unknown as string;'), [2]);
  assert.deepEqual(unexplained('client.create(pods, pod as never);'), [1]);
  assert.deepEqual(unexplained('// The server checked it.\nconst b = a as unknown as string;'), []);
  assert.deepEqual(unexplained('// Of another line.\nconst a = 1;\nconst b = a as unknown as string;'), [3]);
  assert.deepEqual(unexplained('const b = a as never; // no type for it'), []);
  assert.deepEqual(unexplained('/** was as never seen */'), []);
});
