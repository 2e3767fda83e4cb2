/** SSH host keys of login nodes, in the formats that OpenSSH reads: one each of RSA, ECDSA and Ed25519. */
import { generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

/** File name → content. Takes a second or so: an RSA key of 3072 bits is not found at once. */
export async function makeHostKeys(): Promise<Record<string, string>> {
  const [rsa, ecdsa, ed25519] = await Promise.all([
    generate('rsa', { modulusLength: 3072 }),
    generate('ec', { namedCurve: 'prime256v1' }),
    generate('ed25519'),
  ]);
  return {
    ssh_host_rsa_key: rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    'ssh_host_rsa_key.pub': publicLine('ssh-rsa', rsaBlob(rsa.publicKey)),
    ssh_host_ecdsa_key: ecdsa.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    'ssh_host_ecdsa_key.pub': publicLine('ecdsa-sha2-nistp256', ecdsaBlob(ecdsa.publicKey)),
    ssh_host_ed25519_key: ed25519Private(ed25519.privateKey),
    'ssh_host_ed25519_key.pub': publicLine('ssh-ed25519', ed25519Blob(ed25519.publicKey)),
  };
}

const publicLine = (type: string, blob: Buffer): string => `${type} ${blob.toString('base64')}\n`;

/** The SSH wire format: everything is preceded by its length. */
function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** A positive number: a zero byte keeps its first bit from being read as a sign. */
const mpint = (bytes: Buffer): Buffer =>
  text((bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);

const part = (key: KeyObject, name: 'n' | 'e' | 'x' | 'y' | 'd'): Buffer =>
  Buffer.from(key.export({ format: 'jwk' })[name] ?? '', 'base64url');

const rsaBlob = (key: KeyObject): Buffer =>
  Buffer.concat([text('ssh-rsa'), mpint(part(key, 'e')), mpint(part(key, 'n'))]);

const ecdsaBlob = (key: KeyObject): Buffer =>
  Buffer.concat([
    text('ecdsa-sha2-nistp256'),
    text('nistp256'),
    text(Buffer.concat([Buffer.from([4]), part(key, 'x'), part(key, 'y')])),
  ]);

const ed25519Blob = (key: KeyObject): Buffer => Buffer.concat([text('ssh-ed25519'), text(part(key, 'x'))]);

/** OpenSSH reads Ed25519 keys in a format of its own only (PROTOCOL.key in its sources). */
function ed25519Private(key: KeyObject): string {
  const [seed, open] = [part(key, 'd'), part(key, 'x')];
  const check = randomBytes(4);
  const secret = Buffer.concat([
    check,
    check,
    text('ssh-ed25519'),
    text(open),
    text(Buffer.concat([seed, open])),
    text(''),
  ]);
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1));
  const count = Buffer.from([0, 0, 0, 1]);
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    text('none'),
    text('none'),
    text(''),
    count,
    text(Buffer.concat([text('ssh-ed25519'), text(open)])),
    text(Buffer.concat([secret, padding])),
  ]);
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? [];
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`;
}
