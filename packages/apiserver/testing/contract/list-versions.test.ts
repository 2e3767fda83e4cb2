import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstDifferenceAmongOthers } from './list-versions.ts';
import { Masks } from './masks.ts';

const object = (resourceVersion: string) => ({ metadata: { name: 'a', resourceVersion } });
const list = (version: string, item: string) => ({
  kind: 'ConfigMapList',
  metadata: { resourceVersion: version },
  items: [object(item)],
});

test('a list may be newer than the objects in it, because others write too', () => {
  const masks = new Masks();
  assert.equal(firstDifferenceAmongOthers(list('<rv-1>', '<rv-1>'), list('12', '10'), masks), undefined);
  assert.equal(masks.value('<rv-1>'), '10', 'the version of the object is what the mask stands for');
});

test('a list is never older than what it shows, and objects are compared as before', () => {
  const masks = new Masks();
  masks.bind('<rv-1>', '10');
  assert.match(
    firstDifferenceAmongOthers(list('<rv-1>', '<rv-1>'), list('9', '10'), masks) ?? '',
    /the version of the list is "9", recorded was 10 or newer/,
  );
  assert.match(
    firstDifferenceAmongOthers(list('<rv-1>', '<rv-1>'), list('12', '11'), masks) ?? '',
    /items\[0\]\.metadata\.resourceVersion is "11", recorded was "10"/,
  );
});

test('a version that only a list has shown may turn out to be older', () => {
  const masks = new Masks();
  assert.equal(firstDifferenceAmongOthers(list('<rv-4>', '<rv-1>'), list('20', '10'), masks), undefined);
  assert.equal(firstDifferenceAmongOthers(object('<rv-4>'), object('17'), masks), undefined);
  assert.match(firstDifferenceAmongOthers(object('<rv-4>'), object('16'), masks) ?? '', /recorded was "17"/);
});

test('so with bookmarks of a watch', () => {
  const masks = new Masks();
  const events = (added: string, bookmark: string) => [
    { type: 'ADDED', object: object(added) },
    { type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata: { resourceVersion: bookmark } } },
  ];
  assert.equal(firstDifferenceAmongOthers(events('<rv-1>', '<rv-1>'), events('10', '15'), masks), undefined);
  assert.match(
    firstDifferenceAmongOthers(events('<rv-1>', '<rv-1>'), events('10', '8'), masks) ?? '',
    /or newer/,
  );
});
