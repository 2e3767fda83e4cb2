/** A certificate authority and the certificates that it issues (ECDSA P-256). The library is loaded when it is first used. */
import type { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type { Extension, X509Certificate } from '@peculiar/x509';

export interface KeyPair {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface Validity {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Milliseconds. @default a year */
  readonly lifetime?: number;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const YEAR = 365 * 86_400_000;
/** Certificates are valid a little before they are made, for readers whose clocks are behind. */
export const CLOCK_SKEW = 3_600_000;

async function library() {
  // The library's own need; it must come first.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

export async function createAuthority(options: Validity & { readonly name: string }): Promise<KeyPair> {
  const x509 = await library();
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=${options.name}`,
    notBefore: new Date(options.now - CLOCK_SKEW),
    notAfter: new Date(options.now + (options.lifetime ?? YEAR)),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificatePem: pem(certificate), keyPem: await exportKey(keys.privateKey) };
}

/** A serving certificate for these host names and addresses. */
export async function issueServing(
  authority: KeyPair,
  options: Validity & { readonly hosts: readonly string[] },
): Promise<KeyPair> {
  const x509 = await library();
  return issue(authority, options, `CN=${options.hosts[0] ?? 'server'}`, [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(
      options.hosts.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
    ),
  ]);
}

/** A client certificate: the common name is the user, each organization a group. */
export async function issueClient(
  authority: KeyPair,
  options: Validity & { readonly name: string; readonly groups: readonly string[] },
): Promise<KeyPair> {
  const x509 = await library();
  const subject = [...options.groups.map((group) => ({ O: [group] })), { CN: [options.name] }];
  return issue(authority, options, subject, [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
  ]);
}

async function issue(
  authority: KeyPair,
  { now, lifetime = YEAR }: Validity,
  subject: string | Record<string, string[]>[],
  extensions: readonly Extension[],
): Promise<KeyPair> {
  const x509 = await library();
  const issuer = new x509.X509Certificate(authority.certificatePem);
  const pkcs8 = x509.PemConverter.decodeFirst(authority.keyPem);
  const signingKey = await crypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, false, ['sign']);
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject,
    issuer: issuer.subject,
    notBefore: new Date(now - CLOCK_SKEW),
    notAfter: new Date(Math.min(now + lifetime, issuer.notAfter.getTime())),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      ...extensions,
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificatePem: pem(certificate), keyPem: await exportKey(keys.privateKey) };
}

const generateKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

const pem = (certificate: X509Certificate): string => `${certificate.toString('pem').trim()}\n`;

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const encoded = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64');
  const lines = encoded.match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
}

/** Positive and 16 bytes long: the first bit must be 0, the first byte must not. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 1;
  return Buffer.from(bytes).toString('hex');
}
