import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { makeHostKeys } from './host-keys.ts';

test('three pairs of host keys, each public half belonging to its private one', async () => {
  const keys = await makeHostKeys();
  assert.deepEqual(Object.keys(keys).toSorted(), [
    'ssh_host_ecdsa_key',
    'ssh_host_ecdsa_key.pub',
    'ssh_host_ed25519_key',
    'ssh_host_ed25519_key.pub',
    'ssh_host_rsa_key',
    'ssh_host_rsa_key.pub',
  ]);
  // Read back by hand, field by field, as RFC 4253 and OpenSSH's PROTOCOL.key describe it.
  const fields = (blob: Buffer): Buffer[] => {
    const found: Buffer[] = [];
    for (let at = 0; at < blob.length; ) {
      const length = blob.readUInt32BE(at);
      found.push(blob.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    return found;
  };
  const open = (name: string) =>
    fields(Buffer.from(keys[`ssh_host_${name}_key.pub`]?.split(' ')[1] ?? '', 'base64'));
  const jwk = (pem: string | undefined) =>
    createPublicKey(createPrivateKey(pem ?? '')).export({ format: 'jwk' });
  const unsigned = (bytes: Buffer | undefined) =>
    (bytes?.[0] === 0 ? bytes.subarray(1) : bytes)?.toString('base64url');

  const [rsaType, e, n] = open('rsa');
  assert.equal(rsaType?.toString(), 'ssh-rsa');
  const rsa = jwk(keys['ssh_host_rsa_key']);
  assert.deepEqual([unsigned(e), unsigned(n)], [rsa.e, rsa.n]);

  const [ecdsaType, curve, point] = open('ecdsa');
  assert.deepEqual([ecdsaType?.toString(), curve?.toString()], ['ecdsa-sha2-nistp256', 'nistp256']);
  const ecdsa = jwk(keys['ssh_host_ecdsa_key']);
  assert.equal(point?.subarray(1, 33).toString('base64url'), ecdsa.x);
  assert.equal(point?.subarray(33).toString('base64url'), ecdsa.y);

  const body = keys['ssh_host_ed25519_key']?.split('\n').slice(1, -2).join('') ?? '';
  const blob = Buffer.from(body, 'base64').subarray('openssh-key-v1\0'.length);
  const [cipher, kdf, options] = fields(blob.subarray(0, 4 + 4 + 4 + 4 + 4));
  assert.deepEqual([cipher?.toString(), kdf?.toString(), options?.length], ['none', 'none', 0]);
  const [stored, secret] = fields(blob.subarray(4 + 4 + 4 + 4 + 4 + 4));
  assert.deepEqual(fields(stored ?? Buffer.alloc(0)), open('ed25519'));
  assert.equal((secret?.length ?? 1) % 8, 0);
  assert.deepEqual(secret?.subarray(0, 4), secret?.subarray(4, 8));
  const pair = fields(secret?.subarray(8, 8 + 15 + 36 + 68) ?? Buffer.alloc(0));
  assert.deepEqual(pair[2]?.subarray(32), pair[1], 'the private half ends in the public one');
});
