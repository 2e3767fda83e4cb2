import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTrue, requestInfo, wholeNumber } from './request-info.ts';

const table: readonly [method: string, url: string, expected: string][] = [
  ['GET', '/api/v1/pods', 'list  v1 pods   '],
  ['GET', '/api/v1/namespaces/n/pods/p', 'get  v1 pods n p '],
  ['GET', '/api/v1/namespaces/n/pods?watch=1', 'watch  v1 pods n  '],
  ['GET', '/api/v1/watch/namespaces/n/pods/p', 'watch  v1 pods n p '],
  ['GET', '/api/v1/namespaces/n', 'get  v1 namespaces n n '],
  ['PUT', '/api/v1/namespaces/n/finalize', 'update  v1 namespaces n n finalize'],
  ['POST', '/apis/apps/v1/namespaces/n/deployments', 'create apps v1 deployments n  '],
  ['PATCH', '/apis/apps/v1/namespaces/n/deployments/d/scale', 'patch apps v1 deployments n d scale'],
  ['DELETE', '/apis/apps/v1/namespaces/n/deployments', 'deletecollection apps v1 deployments n  '],
  ['GET', '/apis/apps/v1', 'get apps v1    '],
  ['GET', '/healthz', 'get      '],
];
for (const [method, url, expected] of table)
  test(`${method} ${url} is ${expected.trim()}`, () => {
    const { pathname, searchParams } = new URL(url, 'https://x');
    const { verb, group, version, plural, namespace, name, subresource } = requestInfo(
      method,
      pathname,
      searchParams,
    );
    assert.equal([verb, group, version, plural, namespace, name, subresource].join(' '), expected);
  });

test('only false and 0 are false', () => {
  assert.deepEqual(['true', '1', '', 'maybe', 'false', 'False', '0', null].map(isTrue), [
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a whole number is read, a word or one beyond int64 is a 400', () => {
  const query = new URLSearchParams({ a: '5', b: '-1', c: 'abc', d: '9223372036854775808' });
  assert.equal(wholeNumber(query, 'a'), 5);
  assert.equal(wholeNumber(query, 'b'), -1);
  assert.equal(wholeNumber(query, 'none'), 0);
  assert.throws(() => wholeNumber(query, 'c'), /strconv.ParseInt: parsing "abc": invalid syntax/);
  assert.throws(() => wholeNumber(query, 'd'), /value out of range/);
});
