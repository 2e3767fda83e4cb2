/** Where the keys of a cluster come from. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before as beforeAll, test } from 'node:test';
import { secrets } from '@slurm-operator/kube';
import { chart, type Manifest } from './src/index.ts';
import { ChartStage, none, one } from './testing/chart-stage.ts';
import { slurmMatrix } from './testing/matrix.ts';

let stage: ChartStage;
beforeAll(async () => {
  stage = await ChartStage.open();
});
after(() => stage?.[Symbol.asyncDispose]());

/** A key as the chart before held it. */
const secret = (name: string) =>
  `apiVersion: v1\nkind: Secret\nmetadata: { name: ${name} }\nimmutable: true\ndata: { key: a2V5 }\n`;

test('keys: asked for by annotation, never drawn; old spellings keep the old names', async () => {
  const asked = (manifests: readonly Manifest[]) => {
    const { metadata, spec } = one(manifests, 'Controller');
    return {
      annotations: metadata.annotations,
      slurm: spec.slurmKeyRef,
      jwt: spec.jwtKeyRef,
      hs256: spec.jwtHs256KeyRef,
    };
  };
  const manifests = await stage.slurm({});
  none(manifests, 'Secret');
  assert.deepEqual(asked(manifests), {
    annotations: { 'slinky.slurm.net/generate-slurm-key': '{}', 'slinky.slurm.net/generate-jwt-key': '{}' },
    slurm: { name: 'slurm-auth-slurm', key: 'slurm.key' },
    jwt: { name: 'slurm-auth-jwt', key: 'jwt.key' },
    hs256: undefined,
  });
  const old = asked(await stage.slurm({ slurmKeyRef: {}, jwtHs256KeyRef: {} }));
  assert.deepEqual(old.hs256, { name: 'slurm-auth-jwths256', key: 'jwt_hs256.key' });
  assert.equal(Object.keys(old.annotations).length, 2);
  const named = asked(await stage.slurm(slurmMatrix['old spellings that name keys'] ?? {}));
  assert.deepEqual(
    [named.slurm, named.hs256, named.annotations],
    [{ name: 'mine', key: 'k' }, { name: 'mine', key: 'j' }, undefined],
  );
});

test('a JWT key that an older release made is adopted where helm can look, and asked for by its old spelling elsewhere', async () => {
  const name = 'old-auth-jwths256';
  const data = { 'jwt_hs256.key': Buffer.alloc(32).toString('base64') };
  await stage.client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'slurm' },
    data,
  });
  const stdout = await stage.slurmInCluster({ fullnameOverride: 'old' });
  assert.match(stdout, /jwtHs256KeyRef:\n    name: old-auth-jwths256\n    key: jwt_hs256\.key/);
  assert.doesNotMatch(stdout, /jwtKeyRef:/);
  const found = await stage.client.get(secrets, { namespace: 'slurm', name });
  assert.deepEqual(found.data, data, 'and left as it is');
});

test('a key that a Controller uses stays in use, whatever else there is', async () => {
  const metadata = { name: 'live', namespace: 'slurm' };
  for (const name of ['live-auth-jwths256', 'mine'])
    await stage.client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name } });
  const spec = { slurmKeyRef: { name: 'mine', key: 's' }, jwtKeyRef: { name: 'mine', key: 'j' } };
  const object = { apiVersion: 'slinky.slurm.net/v1beta1', kind: 'Controller', metadata, spec };
  await stage.client.json('POST', '/apis/slinky.slurm.net/v1beta1/namespaces/slurm/controllers', {
    body: object,
    timeout: 60_000,
  });
  const stdout = await stage.slurmInCluster({ fullnameOverride: 'live' });
  assert.match(stdout, /jwtKeyRef:\n    name: mine\n    key: j\n/);
});

test('keys that the chart before held stay when a release is moved to ours, if they are marked as docs/migration.md says', async () => {
  const before = join(stage.directory, 'before');
  const marked = ['moved-auth-jwt', 'moved-auth-slurm'];
  await mkdir(join(before, 'templates'), { recursive: true });
  await writeFile(join(before, 'Chart.yaml'), 'apiVersion: v2\nname: slurm\nversion: 1.2.0\n');
  await writeFile(
    join(before, 'templates/keys.yaml'),
    [...marked, 'moved-unmarked'].map((name) => secret(name)).join('---\n'),
  );
  const page = readFileSync(new URL('../docs/migration.md', import.meta.url), 'utf8');
  const [, annotation = '', value = ''] = /annotate secret .* (helm\S+)=(\w+)$/m.exec(page) ?? [];
  const place = ['--namespace', 'slurm'];
  await stage.helm.run(['install', 'moved', before, ...place]);
  const move = () =>
    stage.helm.run(['upgrade', 'moved', chart('slurm'), ...place, '--set', 'fullnameOverride=moved']);
  await assert.rejects(move(), /helm would delete the key in Secret moved-auth-slurm/);
  for (const name of marked) {
    const metadata = { annotations: { [annotation]: value } };
    await stage.client.mergePatch(secrets, { namespace: 'slurm', name }, { metadata });
  }
  await move();
  const { items } = await stage.client.list(secrets, { namespace: 'slurm' });
  const left = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('moved-'));
  assert.deepEqual(left.toSorted(), marked);
});

test('a key of the release that extraObjects contains is not refused: helm does not delete it', async () => {
  const data = { 'slurm.key': 'a2V5', 'jwt.key': 'a2V5' };
  const values = await stage.helm.file({
    slurmKey: { secretRef: { name: 'given', key: 'slurm.key' } },
    jwtKey: { secretRef: { name: 'given', key: 'jwt.key' } },
    extraObjects: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'given' }, data }],
  });
  const put = (command: string) =>
    stage.helm.run([command, 'giving', chart('slurm'), '--namespace', 'slurm', '--values', values]);
  await put('install');
  await put('upgrade');
  const { metadata } = await stage.client.get(secrets, { namespace: 'slurm', name: 'given' });
  assert.equal(metadata.annotations?.['meta.helm.sh/release-name'], 'giving');
});

test('a Token in extraObjects that names a key does not make helm keep it: the upgrade is refused', async () => {
  const before = join(stage.directory, 'before-tokens');
  await mkdir(join(before, 'templates'), { recursive: true });
  await writeFile(join(before, 'Chart.yaml'), 'apiVersion: v2\nname: slurm\nversion: 1.2.0\n');
  const keys = ['named-auth-slurm', 'named-auth-jwt'];
  await writeFile(join(before, 'templates/keys.yaml'), keys.map((name) => secret(name)).join('---\n'));
  await stage.helm.run(['install', 'named', before, '--namespace', 'slurm']);
  const token = {
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind: 'Token',
    metadata: { name: 'alice' },
    spec: { username: 'alice', jwtKeyRef: { name: 'named-auth-jwt', key: 'jwt.key' } },
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'submitter' },
    spec: {
      containers: [{ name: 'a', image: 'a' }],
      volumes: [{ name: 'key', secret: { secretName: 'named-auth-slurm' } }],
    },
  };
  const move = async (extraObjects: readonly unknown[]) => {
    const values = await stage.helm.file({ fullnameOverride: 'named', extraObjects });
    return stage.helm.run(['upgrade', 'named', chart('slurm'), '--namespace', 'slurm', '--values', values]);
  };
  for (const objects of [
    [token, pod],
    [JSON.stringify(token), `# of Secret named-auth-slurm\n${JSON.stringify(pod)}`],
  ])
    await assert.rejects(move(objects), /helm would delete the key in Secret named-auth-slurm/);
  await stage.client.mergePatch(
    secrets,
    { namespace: 'slurm', name: 'named-auth-slurm' },
    { metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } } },
  );
  await assert.rejects(move([token]), /helm would delete the key in Secret named-auth-jwt/);
  for (const name of keys) await stage.client.get(secrets, { namespace: 'slurm', name });
});
