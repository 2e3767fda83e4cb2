/** A certificate authority and serving certificates of our own making (ECDSA P-256). Loaded only where it is used. */
import type { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type { X509Certificate } from '@peculiar/x509';

export interface KeyPair {
  readonly certPem: string;
  readonly keyPem: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
/** Certificates are valid a little before they are made, for readers whose clocks are behind. */
export const SKEW = 3_600_000;

async function library() {
  // The library's own need; it must come first.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/** A new authority. `now` and `lifetime` are in milliseconds. */
export async function makeAuthority(options: {
  name: string;
  now: number;
  lifetime: number;
}): Promise<KeyPair> {
  const x509 = await library();
  const { subtle } = globalThis.crypto;
  const keys = await subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=${options.name}`,
    notBefore: new Date(options.now - SKEW),
    notAfter: new Date(options.now + options.lifetime),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certPem: pem(certificate), keyPem: await exportKey(keys.privateKey) };
}

/** A serving certificate for these DNS names (or addresses), signed by the authority. */
export async function issueServing(
  authority: KeyPair,
  options: { dnsNames: readonly string[]; now: number; lifetime: number },
): Promise<KeyPair> {
  const x509 = await library();
  const { subtle } = globalThis.crypto;
  const issuer = new x509.X509Certificate(authority.certPem);
  const pkcs8 = x509.PemConverter.decodeFirst(authority.keyPem);
  const signingKey = await subtle.importKey('pkcs8', pkcs8, ALGORITHM, false, ['sign']);
  const keys = await subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: `CN=${options.dnsNames[0] ?? 'webhook'}`,
    issuer: issuer.subject,
    notBefore: new Date(options.now - SKEW),
    notAfter: new Date(Math.min(options.now + options.lifetime, issuer.notAfter.getTime())),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        options.dnsNames.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certPem: pem(certificate), keyPem: await exportKey(keys.privateKey) };
}

function pem(certificate: X509Certificate): string {
  return `${certificate.toString('pem').trim()}\n`;
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await globalThis.crypto.subtle.exportKey('pkcs8', key));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
}

function serial(): string {
  // Positive, 16 bytes: the first bit must be 0.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 1;
  return Buffer.from(bytes).toString('hex');
}
