import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type KubeObject, keyOf, type Live } from '../objects/object.ts';
import { Store } from './store.ts';

interface Thing extends KubeObject {
  colours: string[];
}

const thing = (namespace: string, name: string, colours: string[]): Live<Thing> => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { namespace, name, uid: name, resourceVersion: '1', creationTimestamp: '' },
  colours,
});

const move = fc.record({
  namespace: fc.constantFrom('x', 'y'),
  name: fc.constantFrom('a', 'b', 'c'),
  colours: fc.option(fc.uniqueArray(fc.constantFrom('red', 'green', 'blue'))),
});

test('after any changes each index equals a full search', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), fc.nat(40), (moves, indexAt) => {
      const store = new Store<Thing>();
      const plain = new Map<string, Live<Thing>>();
      for (const [at, { namespace, name, colours }] of moves.entries()) {
        if (at === Math.min(indexAt, moves.length - 1)) store.addIndex('colour', (object) => object.colours);
        const object = thing(namespace, name, colours ?? []);
        if (colours === null) {
          store.delete(keyOf(object));
          plain.delete(keyOf(object));
        } else {
          store.set(object);
          plain.set(keyOf(object), object);
        }
      }
      if (moves.length === 0) store.addIndex('colour', (object) => object.colours);
      const sorted = (objects: Iterable<Live<Thing>>) =>
        [...objects].map((object) => keyOf(object)).toSorted();
      for (const colour of ['red', 'green', 'blue'])
        assert.deepEqual(
          sorted(store.byIndex('colour', colour)),
          sorted(plain.values().filter((object) => object.colours.includes(colour))),
        );
      for (const namespace of ['x', 'y'])
        assert.deepEqual(
          sorted(store.list(namespace)),
          sorted(plain.values().filter((object) => object.metadata.namespace === namespace)),
        );
      assert.equal(store.size, plain.size);
    }),
  );
});

test('the error of an unknown index names it', () => {
  assert.throws(() => new Store<Thing>().byIndex('colour', 'red'), /no index "colour"; known: namespace/);
});
