import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pathOf, readAddress, viewNames, withParameter } from './address.ts';

test('every address that the page writes is read back', () => {
  const name = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/);
  fc.assert(
    fc.property(
      fc.constantFrom(...viewNames),
      name,
      name,
      fc.option(name, { nil: '' }),
      (view, namespace, cluster, item) => {
        const query = new URLSearchParams({ user: 'alice', name: 'train *' });
        const [path = '', search = ''] = pathOf({ namespace, cluster }, view, item, query).split('?');
        const read = readAddress(path, search);
        assert.ok('namespace' in read);
        assert.deepEqual(
          [read.view, read.namespace, read.cluster, read.item],
          [view, namespace, cluster, item],
        );
        assert.equal(read.query.toString(), query.toString());
      },
    ),
  );
});

test('an address that means nothing shows the clusters', () => {
  for (const path of ['/', '/c', '/c/a', '/c/a/b/secrets', '/%', '/c//b/jobs'])
    assert.deepEqual(readAddress(path, ''), { view: 'clusters' }, path);
});

test('a changed filter begins at the first row', () => {
  const query = new URLSearchParams('user=bob&offset=200');
  assert.equal(withParameter(query, 'user', 'alice').toString(), 'user=alice');
  assert.equal(withParameter(query, 'user', '').toString(), '');
  assert.equal(withParameter(query, 'offset', '400').toString(), 'user=bob&offset=400');
});
