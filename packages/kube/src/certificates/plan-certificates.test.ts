import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';
import { bundle, planCertificates, trustBundle } from './plan-certificates.ts';

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

test('a certificate has its names, is signed by its authority, and expires before it', async () => {
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

test('renews each certificate when a third of its lifetime is left', async () => {
  const it = await stored();
  assert.equal(planCertificates(it, dnsNames, start).action, 'keep');
  assert.equal(planCertificates(it, dnsNames, start + 59 * DAY).action, 'keep');
  assert.equal(planCertificates(it, dnsNames, start + 61 * DAY).action, 'new-serving');
  assert.equal(planCertificates(it, dnsNames, start + 601 * DAY).action, 'new-authority');
});

test('replaces an invalid certificate at once', async () => {
  const it = await stored();
  const other = await stored();
  const actionFor = (change: object, names = dnsNames) =>
    planCertificates({ ...it, ...change }, names, start).action;
  assert.equal(planCertificates(undefined, dnsNames, start).action, 'new-authority');
  assert.equal(actionFor({ caCert: 'garbage' }), 'new-authority');
  assert.equal(actionFor({ caKey: '' }), 'new-authority');
  assert.equal(actionFor({ caKey: other.caKey }), 'new-authority');
  assert.equal(actionFor({ cert: '' }), 'new-serving');
  assert.equal(actionFor({ key: other.key }), 'new-serving');
  assert.equal(actionFor({ key: 'garbage' }), 'new-serving');
  assert.equal(actionFor({ cert: other.cert, key: other.key }), 'new-serving');
  assert.equal(actionFor({}, [...dnsNames, 'new.ns.svc']), 'new-serving');
});

test('the bundle contains the new authority and the previous one while that is valid', async () => {
  const [a, b, c] = [await stored(), await stored(), await stored()];
  const two = trustBundle(b.caCert, a.caCert, start);
  assert.deepEqual(bundle(two), [b.caCert, a.caCert]);
  assert.deepEqual(bundle(trustBundle(c.caCert, two, start)), [c.caCert, b.caCert]);
  assert.deepEqual(bundle(trustBundle(b.caCert, a.caCert, start + 2_000 * DAY)), [b.caCert]);
});
