import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readContinueToken, writeContinueToken } from './continue-token.ts';

test('a token is read as it was written', () => {
  fc.assert(
    fc.property(fc.nat(), fc.stringMatching(/^[a-z0-9/.-]{1,60}$/), (revision, after) =>
      assert.deepEqual(readContinueToken(writeContinueToken({ revision, after })), { revision, after }),
    ),
  );
});

test('garbage is refused and says why', () => {
  assert.throws(() => readContinueToken('garbage'), /continue key is not valid: invalid character '\\u0081'/);
  const old = Buffer.from('{"v":"v1","rv":1,"start":"a"}').toString('base64url');
  assert.throws(() => readContinueToken(old), /does not recognize this encoded version "v1"/);
});
