/** The Secret with the keys in force, on an embedded API server: what pods name stays, and what a step replaces goes. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before as beforeAll, test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { secrets } from '@slurm-operator/kube';
import { aController } from '../../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../../testing/operator-world.ts';
import { controllers } from '../../cache/resources.ts';
import { daemonHash, following, type KeySet, loginHash, parseKeySet } from '../../keys/key-set.ts';
import { keySetFile } from '../../objects/key-sources.ts';
import { writeKeys } from './write-keys.ts';

let world: OperatorWorld;
const namespace = 'hpc';
const ref = { namespace, name: 'slurm-slurm-keys' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const digest = (text: string) => hash('sha256', base64(text));
const of = (keys: readonly string[], signing: string): KeySet => ({
  keys: keys.map(digest),
  signing: digest(signing),
  since: 0,
  used: true,
});

beforeAll(async () => {
  world = await startOperatorWorld();
  await world.putSecret('slurm-auth', 'slurm.key', 'a');
  await world.put(controllers, aController());
});
after(() => world.stop());

async function write(userKey: string, keySet: KeySet): Promise<void> {
  const data = { 'slurm.key': base64(userKey) };
  await world.client.mergePatch(secrets, { namespace, name: 'slurm-auth' }, { data });
  const controller = await world.client.get(controllers, { namespace, name: 'slurm' });
  await writeKeys(world.client, controller, keySet, AbortSignal.timeout(60_000));
}
async function written() {
  const { data = {}, metadata } = await world.client.get(secrets, ref);
  const files = Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      const { set, keys } = JSON.parse(Buffer.from(value, 'base64').toString()) as {
        set: string;
        keys: { k: string; use?: string }[];
      };
      const text = ({ k }: { k: string }) => Buffer.from(k, 'base64url').toString().replace(/\0+$/, '');
      return [name, { set, keys: keys.map(text), signing: keys.filter(({ use }) => use).map(text) }];
    }),
  );
  return { files, keySet: parseKeySet(metadata.annotations?.[annotation.slurmKeys]) };
}

test('each set has a file of its own that never changes; old keys come from the Secret itself', async () => {
  const a = of(['a'], 'a');
  await write('a', a);
  const accept = following(of(['a', 'b'], 'a'), a);
  await write('b', accept);
  const sign = following(of(['a', 'b'], 'b'), accept);
  await write('b', sign);
  const { files, keySet } = await written();
  assert.deepEqual(keySet, sign);
  assert.deepEqual(files['slurm.jwks'], { set: daemonHash(sign), keys: ['a', 'b'], signing: ['b'] });
  assert.deepEqual(files[keySetFile(digest('a'))], { set: digest('a'), keys: ['a'], signing: ['a'] });
  assert.deepEqual(files[keySetFile(daemonHash(accept))]?.signing, ['a']);
  assert.deepEqual(files[keySetFile(daemonHash(sign))]?.signing, ['b']);
  assert.equal(loginHash(accept), loginHash(sign));
  assert.deepEqual(files[keySetFile(loginHash(sign))]?.signing, ['a'], 'login nodes that run keep theirs');
});

test('files of sets that no pod can have any more are removed', async () => {
  let set = (await written()).keySet;
  for (const name of ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']) {
    set = following(of([name], name), set);
    await write(name, set);
  }
  const { files } = await written();
  assert.equal(files[keySetFile(digest('a'))], undefined);
  assert.deepEqual(files[keySetFile(digest('j'))]?.keys, ['j']);
  assert.equal(Object.keys(files).length, 1 + 1 + 8);
});

test('a set with a key that is nowhere is not written, and an empty key is an error', async () => {
  const before = await written();
  await write('l', following(of(['unknown', 'l'], 'l'), before.keySet));
  assert.deepEqual(await written(), before);
  await assert.rejects(write('', of([''], '')), /key "slurm.key" of Secret slurm-auth is empty/);
});

test('a short key is filled with zeros, which do not change what it signs', async () => {
  await write('k', following(of(['k'], 'k'), (await written()).keySet));
  const { data = {} } = await world.client.get(secrets, ref);
  const { keys } = JSON.parse(Buffer.from(data['slurm.jwks'] ?? '', 'base64').toString()) as {
    keys: { k: string }[];
  };
  assert.equal(Buffer.from(keys[0]?.k ?? '', 'base64url').length, 32);
});

test('a key in force that the Secret has lost is an error, and nothing is written', async () => {
  const { keySet } = await written();
  await world.client.mergePatch(secrets, ref, { data: { 'slurm.jwks': base64('no JSON') } });
  await assert.rejects(
    write('m', following(of(['k', 'm'], 'k'), keySet)),
    /Secret slurm-slurm-keys has lost a key that daemons use: restore it/,
  );
  await write('k', following(of(['k'], 'k'), keySet));
  assert.deepEqual((await written()).files['slurm.jwks']?.keys, ['k'], 'the key of the user is known');
});
