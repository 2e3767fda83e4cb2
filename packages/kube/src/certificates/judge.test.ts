import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';
import { bundle, judgeCertificates, trustBundle } from './judge.ts';

const DAY = 24 * 3_600_000;
const start = Date.UTC(2026, 0, 1);
const dnsNames = ['webhook.ns.svc', '127.0.0.1'];

async function stored(now = start) {
  const authority = await createAuthority({ name: 'ca', now, lifetime: 900 * DAY });
  const serving = await issueServing(authority, { hosts: dnsNames, now, lifetime: 90 * DAY });
  return {
    caCert: authority.certificatePem,
    caKey: authority.keyPem,
    cert: serving.certificatePem,
    key: serving.keyPem,
  };
}

test('a certificate serves its names, is of its authority, and does not outlive it', async () => {
  const it = await stored();
  const cert = new X509Certificate(it.cert);
  const ca = new X509Certificate(it.caCert);
  assert.ok(cert.verify(ca.publicKey) && cert.checkIssued(ca) && ca.ca && !cert.ca);
  assert.equal(cert.checkHost('webhook.ns.svc'), 'webhook.ns.svc');
  assert.equal(cert.checkIP('127.0.0.1'), '127.0.0.1');
  const short = await createAuthority({ name: 'ca', now: start, lifetime: 10 * DAY });
  const long = await issueServing(short, { hosts: dnsNames, now: start, lifetime: 90 * DAY });
  assert.equal(
    new X509Certificate(long.certificatePem).validTo,
    new X509Certificate(short.certificatePem).validTo,
  );
});

test('each certificate is replaced when a third of its life is left', async () => {
  const it = await stored();
  assert.equal(judgeCertificates(it, dnsNames, start).verdict, 'keep');
  assert.equal(judgeCertificates(it, dnsNames, start + 59 * DAY).verdict, 'keep');
  assert.equal(judgeCertificates(it, dnsNames, start + 61 * DAY).verdict, 'new-serving');
  assert.equal(judgeCertificates(it, dnsNames, start + 601 * DAY).verdict, 'new-authority');
});

test('what does not fit is replaced at once', async () => {
  const it = await stored();
  const other = await stored();
  const verdict = (change: object, names = dnsNames) =>
    judgeCertificates({ ...it, ...change }, names, start).verdict;
  assert.equal(judgeCertificates(undefined, dnsNames, start).verdict, 'new-authority');
  assert.equal(verdict({ caCert: 'garbage' }), 'new-authority');
  assert.equal(verdict({ caKey: '' }), 'new-authority');
  assert.equal(verdict({ cert: '' }), 'new-serving');
  assert.equal(verdict({ cert: other.cert, key: other.key }), 'new-serving');
  assert.equal(verdict({}, [...dnsNames, 'new.ns.svc']), 'new-serving');
});

test('clients trust the new authority and the one before it, as long as that is valid', async () => {
  const [a, b, c] = [await stored(), await stored(), await stored()];
  const two = trustBundle(b.caCert, a.caCert, start);
  assert.deepEqual(bundle(two), [b.caCert, a.caCert]);
  assert.deepEqual(bundle(trustBundle(c.caCert, two, start)), [c.caCert, b.caCert]);
  assert.deepEqual(bundle(trustBundle(b.caCert, a.caCert, start + 2_000 * DAY)), [b.caCert]);
});
