import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonPatch } from '../client/options.ts';
import { jsonDiff } from './json-diff.ts';

/** Applies the operations that a diff uses, as in RFC 6902. */
function patched(value: unknown, patch: JsonPatch): unknown {
  let result = structuredClone(value);
  for (const { op, path, value: next } of patch) {
    const steps = path
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop();
    if (last === undefined) {
      result = next;
      continue;
    }
    let at = result as Record<string, unknown>;
    for (const step of steps) at = at[step] as Record<string, unknown>;
    assert.equal(Object.hasOwn(at, last), op !== 'add', `${op} ${path}`);
    if (op === 'remove') delete at[last];
    else
      Object.defineProperty(at, last, { value: next, enumerable: true, writable: true, configurable: true });
  }
  return result;
}

test('the patch turns one value into the other', () => {
  const map = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(map, map, (before, after) => {
      // Through JSON, as it is sent: JSON has no negative zero.
      const [from, to] = JSON.parse(JSON.stringify([before, after])) as [unknown, unknown];
      assert.deepEqual(patched(from, jsonDiff(from, to)), to);
    }),
  );
});

test('equal values need no patch, and the patch contains only differences', () => {
  const object = { metadata: { labels: { 'a/b': '1' } }, spec: { list: [1, { x: 2 }] } };
  assert.deepEqual(jsonDiff(object, structuredClone(object)), []);
  assert.deepEqual(jsonDiff(object, { ...object, metadata: { labels: { 'a/b': '2' } } }), [
    { op: 'replace', path: '/metadata/labels/a~1b', value: '2' },
  ]);
});
