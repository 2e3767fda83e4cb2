/** A certificate authority of one server: signs its serving certificate and its clients' certificates. */
// First: the x509 library looks for it while it loads.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

type CryptoKey = webcrypto.CryptoKey;
type CryptoKeyPair = webcrypto.CryptoKeyPair;

cryptoProvider.set(webcrypto as never);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const day = 24 * 60 * 60 * 1000;

export interface KeyPair {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export class CertificateAuthority {
  readonly caPem: string;
  readonly caKeyPem: string;
  readonly #certificate: X509Certificate;
  readonly #key: CryptoKey;

  private constructor(caPem: string, caKeyPem: string, key: CryptoKey) {
    this.caPem = caPem;
    this.caKeyPem = caKeyPem;
    this.#certificate = new X509Certificate(caPem);
    this.#key = key;
  }

  static async create(now: number): Promise<CertificateAuthority> {
    const keys = await generateKeys();
    const certificate = await X509CertificateGenerator.createSelfSigned({
      serialNumber: serialNumber(),
      name: 'CN=embedded-apiserver-ca',
      notBefore: new Date(now - day),
      notAfter: new Date(now + 365 * day),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature, true),
      ],
    });
    return new CertificateAuthority(
      certificate.toString('pem'),
      await pemOf(keys.privateKey),
      keys.privateKey,
    );
  }

  static async load(caPem: string, caKeyPem: string): Promise<CertificateAuthority> {
    const [der] = PemConverter.decode(caKeyPem);
    if (der === undefined) throw new Error('the CA key holds no PEM block');
    const key = await webcrypto.subtle.importKey('pkcs8', der, algorithm, true, ['sign']);
    return new CertificateAuthority(caPem, caKeyPem, key);
  }

  /** A client certificate: the name is the user, each organization a group. */
  client(user: { readonly name: string; readonly groups: readonly string[] }, now: number): Promise<KeyPair> {
    const subject = [...user.groups.map((group) => ({ O: [group] })), { CN: [user.name] }];
    return this.#issue(subject, ExtendedKeyUsage.clientAuth, [], now);
  }

  /** A serving certificate for host names and addresses. */
  serving(hosts: readonly string[], now: number): Promise<KeyPair> {
    return this.#issue([{ CN: ['embedded-apiserver'] }], ExtendedKeyUsage.serverAuth, hosts, now);
  }

  async #issue(
    subject: Record<string, string[]>[],
    usage: ExtendedKeyUsage,
    hosts: readonly string[],
    now: number,
  ): Promise<KeyPair> {
    const keys = await generateKeys();
    const certificate = await X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject,
      issuer: this.#certificate.subject,
      notBefore: new Date(now - day),
      notAfter: new Date(now + 365 * day),
      signingAlgorithm: algorithm,
      publicKey: keys.publicKey,
      signingKey: this.#key,
      extensions: [
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([usage]),
        ...(hosts.length === 0
          ? []
          : [
              new SubjectAlternativeNameExtension(
                hosts.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? 'ip' : 'dns', value })),
              ),
            ]),
      ],
    });
    return { certificatePem: certificate.toString('pem'), keyPem: await pemOf(keys.privateKey) };
  }
}

function generateKeys(): Promise<CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return Buffer.from(bytes).toString('hex');
}

async function pemOf(key: CryptoKey): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
