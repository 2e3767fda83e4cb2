import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cleanReason } from './reason.ts';

/** Any code points, lone surrogates and control characters among them. fast-check's own `binary` strings take seconds. */
const anyText = fc
  .array(
    fc.oneof(fc.nat({ max: 0x10_ff_ff }), fc.nat({ max: 0xff }), fc.constantFrom(0x2028, 0x2029, 0xd800)),
    {
      maxLength: 600,
      size: 'max',
    },
  )
  .map((points) => String.fromCodePoint(...points));

test('property: a clean reason is one printable line of at most 256 characters, and cleaning it again changes nothing', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const clean = cleanReason(text);
      assert.doesNotMatch(clean, /[\p{Cc}\u2028\u2029]/u);
      assert.ok(Array.from(clean).length <= 256);
      assert.equal(clean, clean.trim());
      assert.ok(clean.isWellFormed());
      assert.equal(cleanReason(clean), clean);
    }),
  );
});

test('line breaks cannot add a second line', () => {
  assert.equal(cleanReason('kernel\nState=DOWN\r\n  x'), 'kernel State=DOWN x');
});
