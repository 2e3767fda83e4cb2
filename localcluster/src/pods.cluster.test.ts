/** What a pod gets from its node: volumes, the order of its containers, hooks, probes, rights, names. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { container, pod } from '../testing/pod-manifests.ts';
import { TestCluster } from '../testing/test-cluster.ts';

const skip = process.getuid?.() === 0 ? false : 'needs root: namespaces, mounts and control groups';
let cluster: TestCluster;
before(async () => {
  if (skip !== false) return;
  cluster = await TestCluster.start({ name: `pods-${process.pid}`, nodes: 1 });
  await cluster.apply(
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings' },
      data: { 'a.conf': 'one\n', 'b.conf': 'two\n' },
    },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { 'secret.key': 'hidden' } },
    // Sees what the others leave in the directory of the node.
    pod({
      name: 'observer',
      container: container('sleep 100000', { volumeMounts: [{ name: 'story', mountPath: '/story' }] }),
      spec: { volumes: [story] },
    }),
  );
  await cluster.untilReady('observer');
});
after(async () => {
  if (skip === false) await cluster.stop();
});

const story = { name: 'story', hostPath: { path: '/srv/story', type: 'DirectoryOrCreate' } };
const inside = async (name: string, script: string) =>
  (await cluster.kubectl(['exec', name, '-c', 'c', '--', 'sh', '-c', script])).stdout.trim();
const chapters = async (file: string) =>
  (await inside('observer', `cat /story/${file}`)).split('\n').filter((line) => line !== '');

test('every kind of volume holds what it should, with the mode it should have', { skip }, async () => {
  const fieldRef = { fieldPath: "metadata.labels['team']" };
  await cluster.apply(
    pod({
      name: 'volumes',
      labels: { team: 'blue' },
      container: container('sleep 100000', {
        resources: { limits: { memory: '64Mi' } },
        volumeMounts: [
          { name: 'all', mountPath: '/all', readOnly: true },
          { name: 'memory', mountPath: '/memory' },
          { name: 'scratch', mountPath: '/scratch' },
          { name: 'story', mountPath: '/story' },
          { name: 'settings', mountPath: '/etc/one.conf', subPath: 'a.conf' },
          { name: 'scratch', mountPath: '/deep', subPathExpr: 'of/$(TEAM)' },
        ],
        env: [{ name: 'TEAM', valueFrom: { fieldRef } }],
      }),
      spec: {
        securityContext: { fsGroup: 4321 },
        volumes: [
          {
            name: 'all',
            projected: {
              defaultMode: 0o440,
              sources: [
                { configMap: { name: 'settings', items: [{ key: 'b.conf', path: 'deep/b.conf' }] } },
                { secret: { name: 'key', items: [{ key: 'secret.key', path: 'secret.key', mode: 0o400 }] } },
                { serviceAccountToken: { path: 'token', audience: 'someone', expirationSeconds: 600 } },
                {
                  downwardAPI: {
                    items: [
                      { path: 'team', fieldRef },
                      { path: 'memory', resourceFieldRef: { containerName: 'c', resource: 'limits.memory' } },
                    ],
                  },
                },
              ],
            },
          },
          { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } },
          { name: 'scratch', emptyDir: {} },
          { name: 'settings', configMap: { name: 'settings' } },
          story,
        ],
      },
    }),
  );
  await cluster.untilReady('volumes');
  assert.equal(await inside('volumes', 'cat /all/deep/b.conf /all/secret.key /all/team'), 'two\nhiddenblue');
  assert.equal(await inside('volumes', 'cat /all/memory'), String(64 * 2 ** 20));
  const token = (await inside('volumes', 'cat /all/token')).split('.')[1] ?? '';
  const claims = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as {
    aud: string[];
    sub: string;
  };
  assert.deepEqual(claims.aud, ['someone']);
  assert.equal(claims.sub, 'system:serviceaccount:default:default');
  assert.equal(await inside('volumes', 'stat -L -c %a /all/deep/b.conf'), '440');
  assert.match(await inside('volumes', 'grep " /memory " /proc/mounts'), /tmpfs .*size=8192k/);
  assert.equal(await inside('volumes', 'stat -c %g /scratch'), '4321', 'owned by the group of the pod');
  assert.equal(await inside('volumes', 'cat /etc/one.conf'), 'one');
  assert.equal(await inside('volumes', 'touch /deep/x; ls /scratch/of/blue'), 'x');
  const { code } = await cluster.kubectl(['exec', 'volumes', '--', 'touch', '/all/new']);
  assert.notEqual(code, 0, 'read-only');
  await inside('volumes', 'echo from another pod > /story/shared');
  assert.deepEqual(await chapters('shared'), ['from another pod']);
  await cluster.kubectl(['delete', 'pod', 'volumes']);
});

test('init containers one by one, a sidecar beside them, hooks and signals in their order', {
  skip,
}, async () => {
  const mount = { volumeMounts: [{ name: 'story', mountPath: '/story' }] };
  const tell = (word: string) => `echo ${word} >> /story/life`;
  const stays = (word: string) =>
    `trap '${tell(`${word}-term`)}; exit 0' TERM; ${tell(word)}; while :; do sleep 0.1; done`;
  await cluster.apply(
    pod({
      name: 'life',
      container: container(stays('main'), {
        ...mount,
        lifecycle: {
          postStart: { exec: { command: ['sh', '-c', tell('post-start')] } },
          preStop: { exec: { command: ['sh', '-c', tell('pre-stop')] } },
        },
      }),
      spec: {
        terminationGracePeriodSeconds: 120,
        volumes: [story],
        initContainers: [
          { ...container(tell('first'), mount), name: 'first' },
          { ...container(stays('sidecar'), mount), name: 'sidecar', restartPolicy: 'Always' },
          { ...container(tell('second'), mount), name: 'second' },
        ],
      },
    }),
  );
  await cluster.untilReady('life');
  const begun = await cluster.until('its beginning to be told', async () => {
    const lines = await chapters('life');
    return lines.length >= 5 && lines;
  });
  assert.equal(begun[0], 'first');
  assert.ok(begun.indexOf('second') > begun.indexOf('first'));
  assert.ok(begun.indexOf('main') > begun.indexOf('second'), begun.join());
  assert.deepEqual(new Set(begun), new Set(['first', 'sidecar', 'second', 'main', 'post-start']));
  await cluster.kubectl(['delete', 'pod', 'life', '--wait=true']);
  assert.deepEqual((await chapters('life')).slice(5), ['pre-stop', 'main-term', 'sidecar-term']);
});

test('probes: readiness comes and goes, a failed liveness probe restarts the container', {
  skip,
}, async () => {
  const watched = {
    startupProbe: {
      exec: { command: ['test', '-e', '/tmp/started'] },
      periodSeconds: 1,
      timeoutSeconds: 60,
      failureThreshold: 1000,
    },
    // The usual second is not enough for a program to start on a busy machine.
    readinessProbe: { exec: { command: ['test', '-e', '/tmp/ready'] }, periodSeconds: 1, timeoutSeconds: 60 },
    livenessProbe: {
      exec: { command: ['test', '!', '-e', '/tmp/unhealthy'] },
      periodSeconds: 1,
      timeoutSeconds: 60,
      failureThreshold: 1,
      terminationGracePeriodSeconds: 1,
    },
  };
  await cluster.apply(
    pod({ name: 'probed', container: container('touch /tmp/ready; sleep 100000', watched) }),
  );
  const status = async () => (await cluster.pod('probed'))?.status?.containerStatuses?.[0];
  await cluster.until('it to run', async () => (await status())?.state?.running !== undefined);
  assert.equal((await status())?.started, false, 'not started before the startup probe says so');
  assert.equal((await status())?.ready, false);
  await inside('probed', 'touch /tmp/started');
  await cluster.untilReady('probed');
  await inside('probed', 'rm /tmp/ready');
  await cluster.until('it not to be ready', async () => (await status())?.ready === false);
  assert.equal((await status())?.restartCount, 0, 'a container that is not ready is not restarted');
  await inside('probed', 'touch /tmp/unhealthy');
  await cluster.until('a restart', async () => (await status())?.restartCount === 1);
  await cluster.until('the reason in an event', async () =>
    (await cluster.kubectl(['describe', 'pod', 'probed'])).stdout.includes(
      'failed liveness probe, will be restarted',
    ),
  );
  await cluster.kubectl(['delete', 'pod', 'probed']);
});

test('a container has the rights that its securityContext leaves it, and no more', { skip }, async () => {
  await cluster.apply(
    pod({
      name: 'modest',
      container: container('sleep 100000', {
        securityContext: {
          runAsUser: 1234,
          runAsGroup: 1235,
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        },
      }),
      spec: { securityContext: { supplementalGroups: [77] } },
    }),
    pod({ name: 'usual' }),
  );
  await cluster.untilReady('modest');
  await cluster.untilReady('usual');
  assert.equal(await inside('modest', 'echo $(id -u) $(id -g) $(id -G)'), '1234 1235 1235 77');
  const rights = await inside('modest', "grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/1/status");
  assert.match(rights, /CapEff:\s+0+\n/);
  assert.match(rights, /CapBnd:\s+0+\n/);
  assert.match(rights, /NoNewPrivs:\s+1/);
  assert.notEqual((await cluster.kubectl(['exec', 'modest', '--', 'touch', '/x'])).code, 0);
  // By default: at most the usual fourteen capabilities, never the right to mount or to load modules.
  const usual = BigInt(`0x${await inside('usual', 'grep CapEff /proc/1/status | cut -f2')}`);
  assert.equal(usual & (1n << 21n), 0n, 'no CAP_SYS_ADMIN');
  assert.equal(usual & (1n << 16n), 0n, 'no CAP_SYS_MODULE');
  assert.notEqual(
    (await cluster.kubectl(['exec', 'usual', '--', 'mount', '-t', 'tmpfs', 'x', '/tmp'])).code,
    0,
  );
  await cluster.kubectl(['delete', 'pod', 'modest', 'usual']);
});

test('hostname, subdomain and dnsConfig reach the files of the pod', { skip }, async () => {
  await cluster.apply(
    pod({
      name: 'named',
      spec: {
        hostname: 'alice',
        subdomain: 'people',
        dnsConfig: {
          searches: ['corp.example'],
          options: [{ name: 'ndots', value: '2' }, { name: 'rotate' }],
        },
        hostAliases: [{ ip: '192.0.2.7', hostnames: ['printer'] }],
      },
    }),
    pod({
      name: 'own-dns',
      spec: { dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.53'], searches: ['only.example'] } },
    }),
  );
  await cluster.untilReady('named');
  await cluster.untilReady('own-dns');
  assert.equal(await inside('named', 'hostname'), 'alice');
  const hosts = await inside('named', 'cat /etc/hosts');
  assert.match(hosts, /\talice\.people\.default\.svc\.cluster\.local\talice/);
  assert.match(hosts, /192\.0\.2\.7\s+printer/);
  const resolver = await inside('named', 'cat /etc/resolv.conf');
  assert.match(
    resolver,
    /^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local corp\.example$/m,
  );
  assert.match(resolver, /^options .*ndots:2/m);
  assert.match(resolver, /^options .*rotate/m);
  assert.equal(
    await inside('own-dns', 'grep -v "^options" /etc/resolv.conf'),
    'search only.example\nnameserver 192.0.2.53',
  );
  await cluster.kubectl(['delete', 'pod', 'named', 'own-dns']);
});
