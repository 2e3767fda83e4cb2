import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/types.ts';
import type { ResourceDefinition } from '../resource/resource-definition.ts';
import { watchEvent } from './watch-event.ts';

const definition = { group: '', version: 'v1', kind: 'Thing', plural: 'things' } as ResourceDefinition;
const thing = (resourceVersion: string, on: boolean): KubeObject => ({
  kind: 'Thing',
  apiVersion: 'v1',
  metadata: { name: 'a', resourceVersion },
  on,
});
const selection = { all: false, matches: (object: KubeObject) => object['on'] === true };
const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject, previous?: KubeObject) => ({
  revision: 2,
  type,
  resource: '/things',
  object,
  ...(previous === undefined ? {} : { previous }),
});

const table: readonly [
  what: string,
  was: boolean | undefined,
  is: boolean | undefined,
  seen: string | undefined,
][] = [
  ['made inside', undefined, true, 'ADDED 2'],
  ['made outside', undefined, false, undefined],
  ['changed inside', true, true, 'MODIFIED 2'],
  ['entered', false, true, 'ADDED 2'],
  ['left: its old content under the new version', true, false, 'DELETED 2'],
  ['changed outside', false, false, undefined],
  ['deleted inside', true, undefined, 'DELETED 2'],
  ['deleted outside', false, undefined, undefined],
];
for (const [what, was, is, seen] of table)
  test(`an object that was ${what}: ${seen ?? 'nothing'}`, () => {
    const previous = was === undefined ? undefined : thing('1', was);
    const type = was === undefined ? 'ADDED' : is === undefined ? 'DELETED' : 'MODIFIED';
    const found = watchEvent(definition, selection, event(type, thing('2', is ?? was ?? false), previous));
    assert.equal(found && `${found.type} ${found.object.metadata.resourceVersion}`, seen);
    if (found?.type === 'DELETED') assert.equal(found.object['on'], true, 'as it was last seen');
  });
