import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { duplicateKeys, JsonSyntaxError } from './json-scan.ts';

test('keys given twice are named by their path', () => {
  assert.deepEqual(duplicateKeys('{"a":1,"b":{"c":1,"c":2},"a":3}'), ['b.c', 'a']);
  assert.deepEqual(duplicateKeys('{"l":[{"x":1},{"x":1,"\\u0078":2}]}'), ['l[1].x']);
});

const faults: readonly [text: string, message: string][] = [
  ['', 'unexpected end of JSON input'],
  ['{"a":', 'unexpected end of JSON input'],
  ['{bad', "invalid character 'b' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['tru!', "invalid character '!' in literal true (expecting 'e')"],
  ['"a\nb"', "invalid character '\\u000a' in string literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['\u0081', "invalid character '\\u0081' looking for beginning of value"],
];
for (const [text, message] of faults)
  test(`${JSON.stringify(text)} is told apart: ${message}`, () => {
    assert.throws(() => duplicateKeys(text), new JsonSyntaxError(message));
  });

test('it takes what JSON.parse takes, and nothing else', () => {
  fc.assert(fc.property(fc.json(), (text) => assert.deepEqual(duplicateKeys(text), [])));
  fc.assert(
    fc.property(
      fc.string({ maxLength: 12, unit: fc.constantFrom(...'{}[]",:0-1.e tfn\\u'.split('')) }),
      (text) => {
        const taken = (read: (text: string) => unknown) => {
          try {
            read(text);
            return true;
          } catch {
            return false;
          }
        };
        assert.equal(taken(duplicateKeys), taken(JSON.parse), text);
      },
    ),
  );
});
