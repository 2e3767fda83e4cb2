/** What real nodes do with real containers, on a cluster of three: tier `nodes` of the contract. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { container, pod } from '../testing/pod-manifests.ts';
import { TestCluster } from '../testing/test-cluster.ts';
import { disruptionBudgets, endpointSlices, nodes, pods, services } from './objects/objects.ts';

const skip = process.getuid?.() === 0 ? false : 'needs root: namespaces, mounts and control groups';
let cluster: TestCluster;
before(async () => {
  if (skip === false)
    cluster = await TestCluster.start({ name: `nodes-${process.pid}`, nodes: 3, nodeGraceMs: 12_000 });
});
after(async () => {
  if (skip === false) await cluster.stop();
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
    (await cluster.kubectl(['exec', from, '--', 'timeout', '30', 'wget', '-qO-', url])).stdout.trim();
  await cluster.until(
    'the last pod to have its name',
    async () => (await ask('web-0', 'http://web-2.web:8080/')) === 'web-2',
  );
  for (const from of ['web-0', 'web-1', 'web-2'])
    for (const to of ['web-0', 'web-1', 'web-2'])
      await cluster.until(
        `${from} to find ${to}`,
        async () => (await ask(from, `http://${to}.web.default.svc.cluster.local:8080/`)) === to,
      );
  const answers = new Set<string>();
  for (let attempt = 0; attempt < 300 && answers.size < 3; attempt++)
    answers.add(
      await cluster.until('an answer', async () => (await ask('web-0', 'http://web-vip:80/')) || undefined),
    );
  assert.deepEqual([...answers].toSorted(), ['web-0', 'web-1', 'web-2'], 'the Service reaches all three');

  const vip = await cluster.client.get(services, { namespace: 'default', name: 'web-vip' });
  const fromHost = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(30_000) })).text();
  const nodePort = vip.spec.ports?.[0]?.nodePort ?? 0;
  for (const url of [
    `http://${vip.spec.clusterIP}/`,
    `http://${vip.status?.loadBalancer?.ingress?.[0]?.ip}/`,
    `http://${cluster.cluster.nodes[1]?.address}:${nodePort}/`,
  ])
    await cluster.until(`an answer to the host from ${url}`, async () =>
      /^web-[012]\n$/.test(await fromHost(url).catch(() => '')),
    );

  const lookUp = async (name: string) =>
    (await cluster.kubectl(['exec', 'web-0', '--', 'nslookup', name])).stdout;
  const address = placed[1]?.status?.podIP ?? '';
  await cluster.until('the name of an address', async () =>
    (await lookUp(address)).includes('web-1.web.default.svc.cluster.local'),
  );
  await cluster.until('a foreign name to be unknown', async () =>
    (await lookUp('example.org')).includes('NXDOMAIN'),
  );

  // The claim keeps its content when the pod is replaced.
  await cluster.kubectl(['exec', 'web-1', '--', 'sh', '-c', 'echo kept > /data/kept']);
  await cluster.kubectl(['delete', 'pod', 'web-1', '--wait=true']);
  await cluster.untilReady('web-1');
  await cluster.until(
    'the new pod to serve what was kept',
    async () => (await ask('web-0', 'http://web-1.web:8080/kept')) === 'kept',
  );
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
      timeout: 20_000,
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
    '--timeout=180s',
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
  const reason = (name: string, words: RegExp) =>
    cluster.until(`${name} to say ${words}`, async () =>
      (await cluster.pod(name))?.status?.conditions?.some(
        (entry) =>
          entry.type === 'PodScheduled' &&
          entry.reason === 'Unschedulable' &&
          words.test(entry.message ?? ''),
      ),
    );
  await reason('lonely', /^0\/3 nodes are available: 3 node\(s\) didn't match pod anti-affinity rules\./);
  await reason('greedy', /^0\/3 nodes are available: 3 Insufficient cpu\./);
  await cluster.kubectl(['delete', 'pod', 'lonely', 'greedy']);
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
  assert.equal(web?.metadata.uid, uid, 'the StatefulSet pod is not replaced while its state is unknown');
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
  const back = await cluster.untilReady('web-2');
  assert.equal(back.metadata.uid, uid, 'the same pod');
  assert.equal(
    back.status?.containerStatuses?.[0]?.restartCount,
    restarts + 1,
    'its container was started again',
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
