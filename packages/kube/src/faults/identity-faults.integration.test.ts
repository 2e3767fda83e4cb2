/** Faults of credentials and time: a rotated token, an expired certificate, a clock that jumps. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { churn, follow, OURS, settles, setUp, type World } from '../../testing/fault-world.ts';
import { until } from '../../testing/index.ts';
import {
  type Client,
  type Clock,
  defineResource,
  type KubeObject,
  kubeconfigConfig,
  secrets,
  systemClock,
} from '../index.ts';

const YEAR = 366 * 24 * 3_600_000;

/** Real time plus an offset: of the wall clock alone, or of both clocks. */
function movableClock() {
  const by = { wall: 0, monotonic: 0 };
  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + by.wall,
    monotonic: () => performance.now() + by.monotonic,
  };
  return { by, clock };
}

/** A kubeconfig of files in a temporary directory, and a function to rewrite them. */
async function files(t: TestContext, { server }: World, user: object, clock: Clock) {
  const directory = mkdtempSync(join(tmpdir(), 'kube-identity-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const named = Object.fromEntries(
    Object.entries(user).map(([key, name]) => [key, join(directory, String(name))]),
  );
  const text = JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      {
        name: 'c',
        cluster: {
          server: server.url,
          'certificate-authority-data': Buffer.from(server.caPem).toString('base64'),
        },
      },
    ],
    users: [{ name: 'u', user: named }],
  });
  const write = (name: string, content: string) => writeFileSync(join(directory, name), content);
  return { write, config: () => kubeconfigConfig({ text, clock }) };
}

interface Binding extends KubeObject {
  roleRef: object;
  subjects: object[];
}
const clusterRoleBindings = defineResource<Binding>({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
});

/** The list fills the cache; the watch that follows uses another connection, a moment later. */
const watching = ({ server }: World) => until('our watch is open', () => server.faults.watches > 0);

/** A token that is valid as long as its Secret exists. */
async function token(user: Client, name: string): Promise<string> {
  const annotations = { 'kubernetes.io/service-account.name': 'default' };
  const secret = await user.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'default', name, annotations },
    type: 'kubernetes.io/service-account-token',
  });
  return Buffer.from(secret.data?.['token'] ?? '', 'base64').toString('utf8');
}

for (const streaming of [true, false]) {
  const how = streaming ? 'streaming list' : 'pages';
  const tuning = { streaming, pageSize: 3 };

  test(`cache equals server after: our token is rotated and the old one refused (${how})`, async (t) => {
    const world = await setUp(t);
    const { by, clock } = movableClock();
    await world.user.create(clusterRoleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'us' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'default' }],
    });
    const { write, config } = await files(t, world, { tokenFile: 'token' }, clock);
    write('token', await token(world.user, 'one'));
    await churn(world, 5);
    const followed = follow(t, world, tuning, { config: await config() });
    await followed.informer.waitForSync({ timeout: 60_000 });
    await watching(world);

    await world.user.delete(secrets, { namespace: 'default', name: 'one' });
    world.server.faults.cutWatches(OURS);
    await churn(world, 6, 5);
    await until('the old token is refused', () => /\(401\)/.test(followed.informer.problem ?? ''));
    write('token', await token(world.user, 'two'));
    await settles(world, followed);
    await watching(world);
    // A regular rotation causes no error: the file is read again before the old token expires.
    write('token', await token(world.user, 'three'));
    by.monotonic += 11_000;
    await followed.client.list(secrets);
    const refused = world.server.audit.count({ ...OURS, status: 401 });
    await world.user.delete(secrets, { namespace: 'default', name: 'two' });
    world.server.faults.cutWatches(OURS);
    await churn(world, 6, 11);
    await settles(world, followed);
    assert.equal(world.server.audit.count({ ...OURS, status: 401 }), refused);
  });

  test(`cache equals server after: our client certificate expires and is renewed (${how})`, async (t) => {
    let age = 0;
    const world = await setUp(t, () => Date.now() - age);
    const { by, clock } = movableClock();
    const names = { 'client-certificate': 'cert', 'client-key': 'key' };
    const { write, config } = await files(t, world, names, clock);
    const renew = async (issuedAgo: number) => {
      age = issuedAgo;
      const made = parse(await world.server.kubeconfigFor({ name: 'us', groups: ['system:masters'] })) as {
        users: { user: Record<string, string> }[];
      };
      age = 0;
      const pem = (field: string) => Buffer.from(made.users[0]?.user[field] ?? '', 'base64').toString('utf8');
      write('cert', pem('client-certificate-data'));
      write('key', pem('client-key-data'));
    };
    await renew(0);
    await churn(world, 5);
    const followed = follow(t, world, tuning, { config: await config() });
    await followed.informer.waitForSync({ timeout: 60_000 });
    await watching(world);

    await renew(YEAR);
    by.monotonic += 11_000;
    world.server.faults.cutWatches(OURS);
    await churn(world, 6, 5);
    await until('the expired certificate is refused', () => /\(401\)/.test(followed.informer.problem ?? ''));
    await renew(0);
    await settles(world, followed);
    await churn(world, 6, 11);
    await settles(world, followed);
  });

  test(`cache equals server after: the clock jumps, forth and back, and the machine sleeps (${how})`, async (t) => {
    const world = await setUp(t);
    const { by, clock } = movableClock();
    await churn(world, 5);
    const followed = follow(t, world, { ...tuning, idle: 10_000 }, { clock });
    await followed.informer.waitForSync({ timeout: 60_000 });
    for (const [at, [wall, monotonic]] of [
      [YEAR, 0],
      [-YEAR, 0],
      [3_600_000, 3_600_000],
    ].entries()) {
      by.wall += wall ?? 0;
      by.monotonic += monotonic ?? 0;
      await churn(world, 6, at * 6);
      // End the connection, so that the next one is opened with the changed time.
      if (at !== 1) world.gateway.resetAll();
      await settles(world, followed);
    }
  });
}
