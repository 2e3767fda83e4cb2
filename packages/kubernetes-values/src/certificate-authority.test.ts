import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { CLOCK_SKEW, createAuthority, issueClient, issueServing } from './certificate-authority.ts';

const DAY = 86_400_000;
const now = Date.UTC(2026, 0, 1);

test('issued certificates are signed by the authority and name what was asked for', async () => {
  const authority = await createAuthority({ name: 'ca', now });
  const ca = new X509Certificate(authority.certificatePem);
  assert.ok(ca.ca && ca.verify(ca.publicKey));
  const serving = new X509Certificate(
    (await issueServing(authority, { hosts: ['a.example', '127.0.0.1', '::1'], now })).certificatePem,
  );
  assert.ok(!serving.ca && serving.verify(ca.publicKey) && serving.checkIssued(ca));
  assert.equal(serving.checkHost('a.example'), 'a.example');
  assert.equal(serving.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(serving.checkIP('::1'), '::1');
  assert.equal(serving.checkHost('b.example'), undefined);
  const client = new X509Certificate(
    (await issueClient(authority, { name: 'jane', groups: ['dev', 'ops'], now })).certificatePem,
  );
  assert.ok(client.verify(ca.publicKey));
  assert.equal(client.subject, 'O=dev\nO=ops\nCN=jane');
});

test('a certificate is valid from a little before now, and never outlives its authority', async () => {
  const authority = await createAuthority({ name: 'ca', now, lifetime: 10 * DAY });
  const { certificatePem } = await issueServing(authority, { hosts: ['a'], now, lifetime: 90 * DAY });
  const certificate = new X509Certificate(certificatePem);
  assert.equal(Date.parse(certificate.validFrom), now - CLOCK_SKEW);
  assert.equal(Date.parse(certificate.validTo), now + 10 * DAY);
});

test('each authority and each certificate has a serial number of its own', async () => {
  const one = await createAuthority({ name: 'ca', now });
  const pairs = [
    one,
    await createAuthority({ name: 'ca', now }),
    await issueServing(one, { hosts: ['a'], now }),
  ];
  const numbers = pairs.map(({ certificatePem }) => new X509Certificate(certificatePem).serialNumber);
  assert.equal(new Set(numbers).size, 3);
  assert.ok(
    !new X509Certificate(pairs[1]?.certificatePem ?? '').verify(
      new X509Certificate(one.certificatePem).publicKey,
    ),
  );
});
