import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signJwt } from '@slurm-operator/slurm';
import { aToken } from '../../../testing/objects.ts';
import {
  allowedUsersAnnotation,
  lifetimeOf,
  mayHaveToken,
  planRenewal,
  readToken,
  secretOf,
  wasServedByUpstream,
  withUserListed,
} from './renewal.ts';

const now = Date.UTC(2026, 0, 1);
const minute = 60_000;
const facts = (over: object = {}) => ({
  username: 'alice',
  issuedAt: now - minute,
  expiresAt: now + 14 * minute,
  ...over,
});

const cases: readonly {
  name: string;
  spec?: object;
  stored?: object;
  sign?: RegExp;
  lookAgainAt?: number;
}[] = [
  { name: 'there is no token', sign: /no token is signed/ },
  { name: 'a token is young', stored: facts(), lookAgainAt: now + 11 * minute },
  {
    name: 'four fifths are over',
    stored: facts({ issuedAt: now - 12 * minute, expiresAt: now + 3 * minute }),
    sign: /four fifths/,
  },
  {
    name: 'it expired',
    stored: facts({ issuedAt: now - 20 * minute, expiresAt: now - 5 * minute }),
    sign: /expired/,
  },
  { name: 'it is for another user', stored: facts({ username: 'bob' }), sign: /for user bob/ },
  {
    name: 'it is from the future',
    stored: facts({ issuedAt: now + 5 * minute, expiresAt: now + 20 * minute }),
    sign: /future/,
  },
  {
    name: 'a clock is a little off',
    stored: facts({ issuedAt: now + 30_000, expiresAt: now + 15 * minute }),
    lookAgainAt: now + 30_000 + 0.8 * (14.5 * minute),
  },
  { name: 'the lifetime was shortened', spec: { lifetime: '1m' }, stored: facts(), sign: /shortened/ },
  {
    name: 'the lifetime was prolonged',
    spec: { lifetime: '10h' },
    stored: facts(),
    lookAgainAt: now + 11 * minute,
  },
  { name: 'a token made once is old', spec: { refresh: false }, stored: facts({ expiresAt: now - 1 }) },
  {
    name: 'a token made once is for another user',
    spec: { refresh: false },
    stored: facts({ username: 'bob' }),
    sign: /bob/,
  },
];

for (const { name, spec, stored, sign, lookAgainAt } of cases)
  test(`${name}: ${sign === undefined ? 'kept' : 'signed again'}`, () => {
    const plan = planRenewal(aToken(spec), stored as never, now);
    if (sign === undefined) assert.deepEqual(plan, { sign: false, lookAgainAt });
    else assert.match(plan.sign ? plan.why : 'kept', sign);
  });

test('lifetimes are read as Go writes them, and bounded by what Slurm can count', () => {
  const read = (lifetime: string | undefined) =>
    lifetimeOf(aToken(lifetime === undefined ? {} : { lifetime }));
  assert.equal(read(undefined), 15 * minute);
  assert.equal(read('1h30m'), 90 * minute);
  assert.equal(read('1.5h'), 90 * minute);
  assert.equal(read('90s'), 90_000);
  assert.equal(read('1000000h'), (2 ** 31 - 2) * 1000);
});

test('a token is only ours if the present key signed it', () => {
  const key = Buffer.alloc(32, 1);
  const token = signJwt({ key, user: 'alice', lifetimeSeconds: 900, now });
  assert.deepEqual(readToken(token, key), { username: 'alice', issuedAt: now, expiresAt: now + 900_000 });
  assert.equal(readToken(token, Buffer.alloc(32, 2)), undefined);
  assert.equal(readToken(`${token}x`, key), undefined);
  assert.equal(readToken(`${token}.x`, key), undefined);
  assert.equal(readToken('', key), undefined);
  const [header, , signature] = token.split('.');
  const forged = Buffer.from(JSON.stringify({ sun: 'root', iat: 1, exp: 9e9 })).toString('base64url');
  assert.equal(readToken(`${header}.${forged}.${signature}`, key), undefined);
});

test('root and slurm get a token only where the signing key’s Secret lists them', () => {
  assert.equal(mayHaveToken('alice', {}), true);
  for (const user of ['root', 'slurm', 'Root']) assert.equal(mayHaveToken(user, {}), false);
  assert.equal(mayHaveToken('slurm', { [allowedUsersAnnotation]: 'root' }), false);
  assert.equal(mayHaveToken('slurm', { [allowedUsersAnnotation]: 'root, slurm' }), true);
  assert.equal(mayHaveToken('root', { [allowedUsersAnnotation]: '*' }), true);
});

test('a user id may be the one of root or slurm, so it is allowed in the same way', () => {
  for (const id of ['0', '00', '401', '4294967296']) assert.equal(mayHaveToken(id, {}), false, id);
  assert.equal(mayHaveToken('1234567', { [allowedUsersAnnotation]: 'root,1234567' }), true);
  assert.equal(mayHaveToken('0', { [allowedUsersAnnotation]: 'root' }), false);
  for (const name of ['0a', 'a0', '1234567x']) assert.equal(mayHaveToken(name, {}), true, name);
});

test('a Token for slurm that upstream served is told from one that a user wrote', () => {
  const served = {
    ...aToken({ username: 'slurm' }),
    metadata: { ...aToken().metadata, creationTimestamp: new Date(now - 60 * minute).toISOString() },
  };
  const stored = { isOwnedByKey: true, facts: facts({ username: 'slurm' }) };
  const expired = { ...stored, facts: facts({ username: 'slurm', expiresAt: now - minute }) };
  const refused = {
    ...served,
    status: { conditions: [{ type: 'Ready', status: 'False', reason: 'UserNotAllowed', message: '' }] },
  };
  const older = { ...stored, facts: facts({ username: 'slurm', issuedAt: now - 61 * minute }) };
  assert.equal(wasServedByUpstream(served, stored), true);
  assert.equal(wasServedByUpstream(served, expired), true, 'a move may take longer than a token lives');
  assert.equal(wasServedByUpstream(served, { ...stored, facts: undefined }), false, 'another key signed it');
  assert.equal(wasServedByUpstream(served, { ...stored, isOwnedByKey: false }), false);
  assert.equal(wasServedByUpstream(served, { ...stored, facts: facts() }), false, 'it is for alice');
  assert.equal(wasServedByUpstream(served, older), false, 'it is older than the Token');
  assert.equal(wasServedByUpstream(refused as never, stored), false, 'it was refused before');
  assert.equal(withUserListed({}, 'slurm'), 'slurm');
  assert.equal(withUserListed({ [allowedUsersAnnotation]: ' root, ' }, 'slurm'), 'root,slurm');
});

test('the Secret has the given name, or one made of the Token and its user', () => {
  assert.deepEqual(secretOf(aToken()), { name: 'alice-jwt-alice', key: 'SLURM_JWT' });
  assert.deepEqual(secretOf(aToken({ username: 'Al_ice@x' })), {
    name: 'alice-jwt-al-ice-x',
    key: 'SLURM_JWT',
  });
  assert.deepEqual(secretOf(aToken({ secretRef: { key: 'k' } })), { name: 'alice-jwt-alice', key: 'k' });
  assert.deepEqual(secretOf(aToken({ secretRef: { name: 'n', key: 'k' } })), { name: 'n', key: 'k' });
});
