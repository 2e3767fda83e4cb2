import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { ManualClock } from '../../testing/manual-clock.ts';
import { InvalidInput, Unauthenticated } from '../errors.ts';
import { jwtExpiry, jwtUser, signJwt } from './jwt.ts';
import { fileToken, signedToken } from './token-provider.ts';

const key = Buffer.alloc(32, 7);
const now = Date.UTC(2026, 0, 1);

test('a token has the claims exp iat nbf jti iss sun, and another implementation verifies it', async () => {
  const token = signJwt({ key, user: 'alice', lifetimeSeconds: 900, now, issuer: 'test' });
  const { payload } = await jwtVerify(token, key, { currentDate: new Date(now) });
  assert.equal(decodeProtectedHeader(token).alg, 'HS256');
  assert.deepEqual(Object.keys(payload).toSorted(), ['exp', 'iat', 'iss', 'jti', 'nbf', 'sun']);
  assert.equal(payload['sun'], 'alice');
  assert.equal(payload.iss, 'test');
  assert.equal(payload.exp, now / 1000 + 900);
  assert.equal(payload.nbf, now / 1000);
  assert.equal(jwtExpiry(token), now + 900_000);
  assert.equal(jwtUser(token), 'alice');
  assert.equal(jwtUser('no.token'), undefined);
  await assert.rejects(jwtVerify(token, Buffer.alloc(32, 8), { currentDate: new Date(now) }));
});

test('a token says for whom it is, and what is no token says nothing', () => {
  assert.equal(jwtUser(signJwt({ key, user: 'alice', lifetimeSeconds: 1, now })), 'alice');
  const claims = (value: unknown) => `a.${Buffer.from(JSON.stringify(value)).toString('base64url')}.b`;
  for (const bad of ['', 'x', 'a.b.c', claims(null), claims({ sun: 5 }), claims({ sun: '' }), claims([])])
    assert.equal(jwtUser(bad), undefined, bad);
});

test('a short key is refused with a message that does not contain it', () => {
  const short = Buffer.from('short-secret');
  assert.throws(
    () => signJwt({ key: short, user: 'a', lifetimeSeconds: 1, now }),
    (error) =>
      error instanceof InvalidInput &&
      /12 bytes.*at least 32/.test(error.message) &&
      !inspect(error).includes('short-secret'),
  );
  assert.throws(() => signedToken({ key: short, user: 'a' }), InvalidInput);
});

test('signs a new token at 4/5 of the lifetime and not before', async () => {
  const clock = new ManualClock(now);
  const provider = signedToken({ key, user: 'slurm', lifetimeSeconds: 100, clock });
  const first = await provider.token();
  clock.advance(79_999);
  assert.equal(await provider.token(), first);
  clock.advance(1);
  const second = await provider.token();
  assert.notEqual(second, first);
  assert.equal(jwtExpiry(second ?? ''), now + 180_000);
  clock.set(now - 3_600_000);
  assert.equal(jwtExpiry((await provider.token()) ?? ''), now - 3_600_000 + 100_000, 'a clock set back');
});

test('reads a token file again, and accepts SLURM_JWT=', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'slurm-token-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'token');
  const clock = new ManualClock(now);
  const provider = fileToken({ path, clock, rereadAfterMs: 1000 });
  await assert.rejects(provider.token(), Unauthenticated);
  writeFileSync(path, 'SLURM_JWT=one\n');
  assert.equal(await provider.token(), 'one');
  writeFileSync(path, 'two');
  assert.equal(await provider.token(), 'one');
  clock.advance(1000);
  assert.equal(await provider.token(), 'two');
  writeFileSync(path, ' \n');
  clock.advance(1000);
  await assert.rejects(provider.token(), /empty/);
});
