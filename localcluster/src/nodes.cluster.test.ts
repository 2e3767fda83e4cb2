/** What real nodes do with real containers, on a cluster of three: tier `nodes` of the contract. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { busyboxImage } from '../testing/busybox-image.ts';
import { TestCluster } from '../testing/test-cluster.ts';
import { disruptionBudgets, endpointSlices, nodes, pods, services } from './objects/objects.ts';

const skip = process.getuid?.() === 0 ? false : 'needs root: namespaces, mounts and control groups';
let cluster: TestCluster;
before(async () => {
  if (skip === false) cluster = await TestCluster.start({ name: 'nodes-test', nodes: 3, nodeGraceMs: 5000 });
});
after(async () => {
  if (skip === false) await cluster.stop();
});

interface PodOptions {
  readonly name: string;
  readonly labels?: Record<string, string>;
  readonly container?: Record<string, unknown>;
  readonly spec?: Record<string, unknown>;
}

const container = (script: string, more: Record<string, unknown> = {}) => ({
  name: 'c',
  image: busyboxImage,
  command: ['sh', '-c', script],
  ...more,
});

const pod = ({ name, labels = {}, container: main = container('sleep 100000'), spec = {} }: PodOptions) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { terminationGracePeriodSeconds: 0, containers: [main], ...spec },
});

const webServer = 'echo $HOSTNAME > /data/index.html; exec httpd -f -p 8080 -h /data';

test('a StatefulSet with claims runs on three nodes, and finds itself by name and by Service', {
  skip,
}, async () => {
  const labels = { app: 'web' };
  await cluster.apply(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { clusterIP: 'None', selector: labels, ports: [{ name: 'http', port: 8080 }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web-vip' },
      spec: { type: 'LoadBalancer', selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'web' },
      spec: {
        replicas: 3,
        serviceName: 'web',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            terminationGracePeriodSeconds: 1,
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [
                  { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' },
                ],
              },
            },
            containers: [
              container(webServer, {
                readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 1 },
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
              }),
            ],
          },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
  );
  for (const name of ['web-0', 'web-1', 'web-2']) await cluster.untilReady(name);
  const placed = await Promise.all(['web-0', 'web-1', 'web-2'].map((name) => cluster.pod(name)));
  assert.equal(new Set(placed.map((found) => found?.spec.nodeName)).size, 3, 'one on each node');

  const ask = async (from: string, url: string) =>
    (await cluster.kubectl(['exec', from, '--', 'timeout', '5', 'wget', '-qO-', url])).stdout.trim();
  await cluster.until(
    'the last pod to have its name',
    async () => (await ask('web-0', 'http://web-2.web:8080/')) === 'web-2',
  );
  for (const from of ['web-0', 'web-1', 'web-2'])
    for (const to of ['web-0', 'web-1', 'web-2'])
      assert.equal(
        await ask(from, `http://${to}.web.default.svc.cluster.local:8080/`),
        to,
        `${from} finds ${to}`,
      );
  const answers = new Set<string>();
  for (let attempt = 0; attempt < 30 && answers.size < 3; attempt++)
    answers.add(await ask('web-0', 'http://web-vip:80/'));
  assert.deepEqual([...answers].toSorted(), ['web-0', 'web-1', 'web-2'], 'the Service reaches all three');

  const vip = await cluster.client.get(services, { namespace: 'default', name: 'web-vip' });
  const fromHost = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(5000) })).text();
  const nodePort = vip.spec.ports?.[0]?.nodePort ?? 0;
  for (const url of [
    `http://${vip.spec.clusterIP}/`,
    `http://${vip.status?.loadBalancer?.ingress?.[0]?.ip}/`,
    `http://${cluster.cluster.nodes[1]?.address}:${nodePort}/`,
  ])
    assert.match(await fromHost(url), /^web-[012]\n$/, `from the host: ${url}`);

  const lookup = await cluster.kubectl(['exec', 'web-0', '--', 'nslookup', placed[1]?.status?.podIP ?? '']);
  assert.match(lookup.stdout, /web-1\.web\.default\.svc\.cluster\.local/, 'PTR');
  const outside = await cluster.kubectl(['exec', 'web-0', '--', 'nslookup', 'example.org']);
  assert.match(outside.stdout, /NXDOMAIN/);

  // The claim keeps its content when the pod is replaced.
  await cluster.kubectl(['exec', 'web-1', '--', 'sh', '-c', 'echo kept > /data/kept']);
  await cluster.kubectl(['delete', 'pod', 'web-1', '--wait=true']);
  await cluster.untilReady('web-1');
  assert.equal(await ask('web-0', 'http://web-1.web:8080/kept'), 'kept');
});

test('an eviction that the budget forbids is refused with 429, and kubectl drain moves the others', {
  skip,
}, async () => {
  const labels = { app: 'guarded' };
  await cluster.apply(
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'guarded' },
      spec: { minAvailable: 2, selector: { matchLabels: labels } },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'guarded' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { terminationGracePeriodSeconds: 0, containers: [container('sleep 100000')] },
        },
      },
    },
  );
  const mine = async () =>
    (await cluster.client.list(pods, { namespace: 'default', labelSelector: 'app=guarded' })).items;
  const ready = await cluster.until('two guarded pods', async () => {
    const found = (await mine()).filter(
      (one) => one.status?.phase === 'Running' && one.metadata.deletionTimestamp === undefined,
    );
    return found.length === 2 && found;
  });
  await cluster.until('the budget to be counted', async () => {
    const budget = await cluster.client.get(disruptionBudgets, { namespace: 'default', name: 'guarded' });
    return budget.status?.currentHealthy === 2 && budget.status.disruptionsAllowed === 0;
  });
  const name = ready[0]?.metadata.name ?? '';
  await assert.rejects(
    cluster.client.json('POST', `/api/v1/namespaces/default/pods/${name}/eviction`, {
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'default' } },
      timeout: 2000,
    }),
    { status: 429 },
  );

  await cluster.kubectl(['patch', 'pdb', 'guarded', '-p', '{"spec":{"minAvailable":1}}']);
  const node = ready[0]?.spec.nodeName ?? '';
  const drained = await cluster.kubectl([
    'drain',
    node,
    '--ignore-daemonsets',
    '--delete-emptydir-data',
    '--force',
    '--timeout=60s',
  ]);
  assert.equal(drained.code, 0, drained.stderr);
  await cluster.until('two guarded pods elsewhere', async () => {
    const found = (await mine()).filter(
      (one) => one.status?.phase === 'Running' && one.metadata.deletionTimestamp === undefined,
    );
    return found.length === 2 && found.every((one) => one.spec.nodeName !== node);
  });
  assert.equal((await cluster.kubectl(['uncordon', node])).code, 0);
  await cluster.kubectl(['delete', 'deployment,pdb', 'guarded']);
  for (const one of ['web-0', 'web-1', 'web-2']) await cluster.untilReady(one);
});

test('a pod that no node may take is Pending and says why in the words people know', { skip }, async () => {
  await cluster.apply(
    pod({
      name: 'lonely',
      labels: { app: 'web' },
      spec: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' },
            ],
          },
        },
      },
    }),
    pod({ name: 'greedy', container: container('true', { resources: { requests: { cpu: '1000' } } }) }),
  );
  const reason = (name: string) =>
    cluster.until(
      `${name} to say why`,
      async () =>
        (await cluster.pod(name))?.status?.conditions?.find(
          (entry) => entry.type === 'PodScheduled' && entry.reason === 'Unschedulable',
        )?.message,
    );
  assert.match(
    await reason('lonely'),
    /^0\/3 nodes are available: 3 node\(s\) didn't match pod anti-affinity rules\./,
  );
  assert.match(await reason('greedy'), /^0\/3 nodes are available: 3 Insufficient cpu\./);
  await cluster.kubectl(['delete', 'pod', 'lonely', 'greedy']);
});

test('a missing image, a crash loop and a lack of memory are told as such', { skip }, async () => {
  await cluster.apply(
    pod({ name: 'absent', container: { ...container(''), image: 'localhost/absent:9' } }),
    pod({
      name: 'crashing',
      container: container('echo last words; exit 3', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
    }),
    pod({
      name: 'hungry',
      spec: { restartPolicy: 'Never' },
      container: container('x=$(head -c 200000000 /dev/zero | tr "\\0" x); echo $x | wc -c', {
        resources: { limits: { memory: '32Mi' } },
      }),
    }),
    pod({ name: 'typo', container: { ...container(''), command: ['no-such-program'] } }),
  );
  const status = async (name: string) => (await cluster.pod(name))?.status?.containerStatuses?.[0];
  await cluster.until(
    'ImagePullBackOff',
    async () => (await status('absent'))?.state?.waiting?.reason === 'ImagePullBackOff',
  );
  const crash = await cluster.until('CrashLoopBackOff', async () => {
    const found = await status('crashing');
    return found?.state?.waiting?.reason === 'CrashLoopBackOff' && found;
  });
  assert.equal(crash.lastState?.terminated?.exitCode, 3);
  assert.equal(crash.lastState?.terminated?.message, 'last words');
  assert.ok(crash.restartCount >= 1);
  const killed = await cluster.until('OOMKilled', async () => (await status('hungry'))?.state?.terminated);
  assert.equal(killed.reason, 'OOMKilled');
  assert.equal(killed.exitCode, 137);
  const typo = await cluster.until(
    'a start error',
    async () => (await status('typo'))?.lastState?.terminated ?? (await status('typo'))?.state?.terminated,
  );
  assert.match(typo.message ?? '', /no-such-program/);
  await cluster.kubectl(['delete', 'pod', 'absent', 'crashing', 'hungry', 'typo']);
});

test('a slow volume keeps its pod waiting, and a ConfigMap reaches a running pod at once when the pod is touched', {
  skip,
}, async () => {
  await cluster.apply(
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'slow' },
      provisioner: 'localcluster/directory',
      parameters: { delaySeconds: '4' },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'slow' },
      spec: {
        storageClassName: 'slow',
        accessModes: ['ReadWriteMany'],
        resources: { requests: { storage: '1Gi' } },
      },
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { key: 'one' } },
    pod({
      name: 'patient',
      container: container('sleep 100000', {
        volumeMounts: [
          { name: 'v', mountPath: '/v' },
          { name: 's', mountPath: '/s' },
        ],
      }),
      spec: {
        volumes: [
          { name: 'v', persistentVolumeClaim: { claimName: 'slow' } },
          { name: 's', configMap: { name: 'settings' } },
        ],
      },
    }),
  );
  const why = await cluster.until(
    'the wait to be explained',
    async () =>
      (await cluster.pod('patient'))?.status?.conditions?.find(
        (entry) => entry.type === 'PodScheduled' && entry.status === 'False',
      )?.message,
  );
  assert.match(why, /pod has unbound immediate PersistentVolumeClaims/);
  await cluster.untilReady('patient');
  const read = async () => (await cluster.kubectl(['exec', 'patient', '--', 'cat', '/s/key'])).stdout;
  assert.equal(await read(), 'one');
  await cluster.kubectl(['patch', 'configmap', 'settings', '-p', '{"data":{"key":"two"}}']);
  await cluster.kubectl(['annotate', 'pod', 'patient', 'touched=yes']);
  await cluster.until('the new value', async () => (await read()) === 'two', 5);
  await cluster.kubectl(['delete', 'pod', 'patient']);
});

test('kubectl of Debian: exec with input and exit codes, logs, attach, port-forward', { skip }, async () => {
  await cluster.apply(
    pod({
      name: 'tools',
      container: container(
        'echo line one; echo line two; mkdir -p /www; echo page > /www/index.html; exec httpd -f -p 127.0.0.1:8081 -h /www',
      ),
    }),
  );
  await cluster.untilReady('tools');
  const failed = await cluster.kubectl(['exec', 'tools', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']);
  assert.deepEqual([failed.code, failed.stdout, failed.stderr.includes('err')], [7, 'out\n', true]);
  const echoed = await cluster.kubectl(['exec', '-i', 'tools', '--', 'wc', '-c'], 'x'.repeat(100_000));
  assert.equal(echoed.stdout.trim(), '100000');
  assert.equal((await cluster.kubectl(['logs', 'tools'])).stdout, 'line one\nline two\n');
  assert.equal((await cluster.kubectl(['logs', 'tools', '--tail=1'])).stdout, 'line two\n');
  const forward = cluster.spawnKubectl(['port-forward', 'tools', ':8081']);
  try {
    const [chunk] = (await once(forward.stdout ?? forward, 'data')) as [Buffer];
    const port = /127\.0\.0\.1:(\d+)/.exec(chunk.toString('utf8'))?.[1] ?? '';
    for (let attempt = 0; attempt < 3; attempt++)
      assert.equal(
        await (await fetch(`http://127.0.0.1:${port}/`)).text(),
        'page\n',
        "reaches the pod's own loopback",
      );
  } finally {
    forward.kill();
    await once(forward, 'close');
  }
  await cluster.kubectl(['delete', 'pod', 'tools']);
});

test('a node without power: Deployment pods move, StatefulSet pods wait for it to come back', {
  skip,
}, async () => {
  const labels = { app: 'mover' };
  const patience = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 };
  await cluster.apply({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'mover' },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          tolerations: ['unreachable', 'not-ready'].map((key) => ({
            key: `node.kubernetes.io/${key}`,
            ...patience,
          })),
          containers: [container('sleep 100000')],
        },
      },
    },
  });
  const movers = async () =>
    (await cluster.client.list(pods, { namespace: 'default', labelSelector: 'app=mover' })).items.filter(
      (one) => one.metadata.deletionTimestamp === undefined,
    );
  await cluster.until(
    'three movers',
    async () => (await movers()).filter((one) => one.status?.phase === 'Running').length === 3,
  );
  const lost = (await cluster.pod('web-2'))?.spec.nodeName ?? '';
  const uid = (await cluster.pod('web-2'))?.metadata.uid;
  const restarts = (await cluster.pod('web-2'))?.status?.containerStatuses?.[0]?.restartCount ?? 0;
  await cluster.cluster.node(lost).stop();
  const ready = async () =>
    (await cluster.client.get(nodes, { name: lost })).status?.conditions?.find(
      (entry) => entry.type === 'Ready',
    )?.status;
  await cluster.until('the node to be Unknown', async () => (await ready()) === 'Unknown');
  assert.match((await cluster.kubectl(['get', 'node', lost])).stdout, /NotReady/);
  await cluster.until('the movers to be elsewhere', async () => {
    const found = await movers();
    return (
      found.length === 3 &&
      found.every((one) => one.spec.nodeName !== lost && one.status?.phase === 'Running')
    );
  });
  const web = await cluster.pod('web-2');
  assert.equal(
    web?.metadata.uid,
    uid,
    'the StatefulSet pod is not replaced while nobody knows what became of it',
  );
  await cluster.until('the lost pod to leave the Service', async () => {
    const slices = await cluster.client.list(endpointSlices, {
      namespace: 'default',
      labelSelector: 'kubernetes.io/service-name=web',
    });
    const endpoint = slices.items
      .flatMap((slice) => slice.endpoints ?? [])
      .find((entry) => entry.hostname === 'web-2');
    return endpoint?.conditions?.ready === false;
  });

  await cluster.cluster.node(lost).start();
  await cluster.until('the node to be Ready', async () => (await ready()) === 'True');
  const back = await cluster.untilReady('web-2', 'default', 60);
  assert.equal(back.metadata.uid, uid, 'the same pod');
  assert.equal(
    back.status?.containerStatuses?.[0]?.restartCount,
    restarts + 1,
    'its container was started anew',
  );
  await cluster.until(
    'no taint left',
    async () => ((await cluster.client.get(nodes, { name: lost })).spec.taints ?? []).length === 0,
  );
  await cluster.kubectl(['delete', 'deployment', 'mover']);
});

test('a node without its cable: its containers run on, and it is back as if nothing had been', {
  skip,
}, async () => {
  const name = (await cluster.pod('web-0'))?.spec.nodeName ?? '';
  const earlier = await cluster.pod('web-0');
  await cluster.cluster.node(name).cut();
  const ready = async () =>
    (await cluster.client.get(nodes, { name })).status?.conditions?.find((entry) => entry.type === 'Ready')
      ?.status;
  await cluster.until('the node to be Unknown', async () => (await ready()) === 'Unknown');
  await cluster.cluster.node(name).start();
  await cluster.until('the node to be Ready', async () => (await ready()) === 'True');
  const later = await cluster.untilReady('web-0');
  assert.equal(
    later.status?.containerStatuses?.[0]?.containerID,
    earlier?.status?.containerStatuses?.[0]?.containerID,
    'the same container',
  );
});
