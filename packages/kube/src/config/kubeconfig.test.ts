import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { ConfigError } from '../errors.ts';
import { inClusterConfig, runsInCluster } from './in-cluster.ts';
import { kubeconfigConfig, loadConfig } from './kubeconfig.ts';

function scratch(t: { after(fn: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

const base = `
apiVersion: v1
kind: Config
current-context: main
contexts:
- {name: main, context: {cluster: c, user: u, namespace: work}}
- {name: other, context: {cluster: c2, user: u}}
clusters:
- name: c
  cluster: {server: "https://one:6443/", certificate-authority-data: ${Buffer.from('CA').toString('base64')}, tls-server-name: api, proxy-url: "http://proxy:3128"}
- {name: c2, cluster: {server: "https://two:6443", insecure-skip-tls-verify: true}}
users:
- {name: u, user: {token: secret, as: someone}}
`;

test('the current context selects server, namespace and credentials', async () => {
  const config = await kubeconfigConfig({ text: base });
  assert.equal(config.server, 'https://one:6443');
  assert.equal(config.namespace, 'work');
  assert.equal(config.serverName, 'api');
  assert.equal(config.proxyUrl, 'http://proxy:3128');
  assert.deepEqual(config.headers, { 'Impersonate-User': 'someone' });
  assert.deepEqual(await config.identity({ refused: false }), { ca: 'CA', authorization: 'Bearer secret' });
  const other = await kubeconfigConfig({ text: base, context: 'other' });
  assert.deepEqual([other.server, other.insecure, other.namespace], ['https://two:6443', true, 'default']);
});

test('impersonation sends groups, uid and extra of the user too', async () => {
  const as = (text: string) => base.replace('as: someone', text);
  const config = await kubeconfigConfig({
    text: as('as: ann, as-uid: "7", as-groups: [dev, ops], as-user-extra: {example.org/team: [hpc, ai]}'),
  });
  assert.deepEqual(config.headers, {
    'Impersonate-User': 'ann',
    'Impersonate-Uid': '7',
    'Impersonate-Group': ['dev', 'ops'],
    'Impersonate-Extra-example.org%2Fteam': ['hpc', 'ai'],
  });
  await assert.rejects(kubeconfigConfig({ text: as('as-groups: [dev]') }), /context "main".*name the user/);
});

test('the first of several files takes precedence, and missing files are ignored', async (t) => {
  const directory = scratch(t);
  const first = join(directory, 'first');
  writeFileSync(
    first,
    'users: [{name: u, user: {token: first}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]',
  );
  const second = join(directory, 'second');
  writeFileSync(second, base);
  const env = { KUBECONFIG: [join(directory, 'missing'), first, second].join(':') };
  const config = await loadConfig({ env });
  assert.equal(config.server, 'https://one:6443');
  assert.equal((await config.identity({ refused: false })).authorization, 'Bearer first');
});

test('relative paths are relative to their file, and rotated files are read again', async (t) => {
  const directory = scratch(t);
  const file = join(directory, 'config');
  writeFileSync(join(directory, 'ca.crt'), 'CA-1');
  writeFileSync(join(directory, 'token'), 'token-1\n');
  writeFileSync(
    file,
    `{current-context: m, contexts: [{name: m, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: "https://s", certificate-authority: ca.crt}}], users: [{name: u, user: {tokenFile: token}}]}`,
  );
  const clock = new FakeClock();
  const config = await kubeconfigConfig({ files: [file], clock });
  const first = await config.identity({ refused: false });
  assert.deepEqual(first, { ca: 'CA-1', authorization: 'Bearer token-1' });
  assert.equal(
    await config.identity({ refused: false }),
    first,
    'unchanged: the same object, connections are kept',
  );
  writeFileSync(join(directory, 'token'), 'token-2');
  assert.equal((await config.identity({ refused: false })).authorization, 'Bearer token-1');
  assert.equal(
    (await config.identity({ refused: true })).authorization,
    'Bearer token-2',
    'refused: read at once',
  );
  writeFileSync(join(directory, 'token'), 'token-3');
  await clock.advance(10_001);
  assert.equal((await config.identity({ refused: false })).authorization, 'Bearer token-3');
});

test('errors name what is missing and what exists', async () => {
  await assert.rejects(
    kubeconfigConfig({ text: base, context: 'nope' }),
    /no context "nope"; contexts: main, other/,
  );
  await assert.rejects(kubeconfigConfig({ files: ['/does/not/exist'] }), /looked for \/does\/not\/exist/);
  await assert.rejects(kubeconfigConfig({ text: 'a: b: c' }), ConfigError);
  for (const [removed, user] of [
    ['auth-provider', '{auth-provider: {name: gcp}}'],
    ['username', '{username: jane, password: hush-hush}'],
  ] as const)
    await assert.rejects(
      kubeconfigConfig({ text: base.replace('{token: secret, as: someone}', user) }),
      (error: Error) =>
        error.message.includes(`has ${removed}, which`) && !error.message.includes('hush-hush'),
    );
});

test('in a pod uses the mounted service account and follows its rotation', async (t) => {
  const mount = scratch(t);
  writeFileSync(join(mount, 'namespace'), 'ops\n');
  writeFileSync(join(mount, 'ca.crt'), 'CA');
  writeFileSync(join(mount, 'token'), 'one');
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const clock = new FakeClock();
  assert.equal(runsInCluster({ env, mount }), true);
  assert.equal(runsInCluster({ env: {}, mount }), false);
  const config = await inClusterConfig({ env, mount, clock });
  assert.equal(config.server, 'https://[fd00::1]:443');
  assert.equal(config.namespace, 'ops');
  writeFileSync(join(mount, 'token'), 'two');
  await clock.advance(20_000);
  assert.equal((await config.identity({ refused: false })).authorization, 'Bearer two');
  rmSync(join(mount, 'token'));
  await clock.advance(20_000);
  assert.equal(
    (await config.identity({ refused: false })).authorization,
    'Bearer two',
    'a moment without file is survived',
  );
});
