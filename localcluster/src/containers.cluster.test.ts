/** Containers on a node: failures, their environment, and access to them. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { busyboxImage } from '../testing/busybox-image.ts';
import { container, pod } from '../testing/pod-manifests.ts';
import { TestCluster } from '../testing/test-cluster.ts';

const skip = process.getuid?.() === 0 ? false : 'needs root: namespaces, mounts and control groups';
let cluster: TestCluster;
before(async () => {
  if (skip === false) cluster = await TestCluster.start({ name: `containers-${process.pid}`, nodes: 1 });
});
after(async () => {
  if (skip === false) await cluster.stop();
});

test('a missing image, a crash loop and a lack of memory are told as such', { skip }, async () => {
  await cluster.apply(
    pod({ name: 'absent', container: { ...container(''), image: 'localhost/absent:9' } }),
    pod({
      name: 'crashing',
      container: container('echo final output; exit 3', {
        terminationMessagePolicy: 'FallbackToLogsOnError',
      }),
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
  assert.equal(crash.lastState?.terminated?.message, 'final output');
  assert.ok(crash.restartCount >= 1);
  const killed = await cluster.until('OOMKilled', async () => (await status('hungry'))?.state?.terminated);
  assert.equal(killed.reason, 'OOMKilled');
  assert.equal(killed.exitCode, 137);
  const typo = await cluster.until(
    'a start error',
    async () => (await status('typo'))?.lastState?.terminated ?? (await status('typo'))?.state?.terminated,
  );
  assert.match(typo.message ?? '', /no-such-program/);
  await cluster.until('the story of the pod in its events', async () => {
    const { stdout } = await cluster.kubectl(['describe', 'pod', 'crashing']);
    return ['Successfully assigned', 'Started container c', 'Back-off restarting failed container'].every(
      (words) => stdout.includes(words),
    );
  });
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
  await cluster.until('the new value', async () => (await read()) === 'two', 40);
  await cluster.kubectl(['delete', 'pod', 'patient']);
});

test('kubectl of Debian: exec with input and exit codes, logs, port-forward', { skip }, async () => {
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
  await cluster.until(
    'both lines in the log, and no others',
    async () => (await cluster.kubectl(['logs', 'tools'])).stdout === 'line one\nline two\n',
  );
  assert.equal((await cluster.kubectl(['logs', 'tools', '--tail=1'])).stdout, 'line two\n');
  const forward = cluster.spawnKubectl(['port-forward', 'tools', ':8081']);
  try {
    const [chunk] = (await once(forward.stdout ?? forward, 'data')) as [Buffer];
    const port = /127\.0\.0\.1:(\d+)/.exec(chunk.toString('utf8'))?.[1] ?? '';
    // The page is served a moment after its container runs.
    await cluster.until('the page', () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        (answer) => answer.ok,
        () => false,
      ),
    );
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

test('a node that stops does not wait for a client that is attached to one of its pods', {
  skip,
}, async () => {
  await cluster.apply(pod({ name: 'listened-to', container: container('exec httpd -f -p 127.0.0.1:8081') }));
  await cluster.untilReady('listened-to');
  const forward = cluster.spawnKubectl(['port-forward', 'listened-to', ':8081']);
  try {
    const [chunk] = (await once(forward.stdout ?? forward, 'data')) as [Buffer];
    const visitor = connect(Number(/127\.0\.0\.1:(\d+)/.exec(chunk.toString('utf8'))?.[1]), '127.0.0.1');
    visitor.on('error', () => {});
    await once(visitor, 'connect');
    const node = cluster.cluster.nodes[0] ?? assert.fail();
    const deadline = new AbortController();
    const late = delay(120_000, 'late', { signal: deadline.signal });
    assert.equal(await Promise.race([node.stop().then(() => 'stopped'), late]), 'stopped');
    deadline.abort();
    await late.catch(() => {});
    visitor.destroy();
    await node.start();
  } finally {
    forward.kill('SIGKILL');
  }
});

/** Reads until the words have come; whatever came is in the error when they never do. */
async function hears(child: ChildProcess, words: string): Promise<void> {
  let said = '';
  const chunks = child.stdout?.[Symbol.asyncIterator]() ?? assert.fail('no output');
  const deadline = AbortSignal.timeout(120_000);
  const late = new Promise<never>((_, reject) => {
    deadline.addEventListener('abort', () => reject(new Error(`"${words}" never came, only: ${said}`)));
  });
  while (!said.includes(words)) {
    const { done, value } = await Promise.race([chunks.next(), late]);
    if (done === true) assert.fail(`the stream ended before "${words}" came: ${said}`);
    said += String(value);
  }
}

test('attach: input reaches the container and its output the client, who may leave and come back', {
  skip,
}, async () => {
  await cluster.apply(
    pod({
      name: 'talker',
      container: container('while read -r line; do echo "heard $line"; done; echo end of input', {
        stdin: true,
      }),
    }),
  );
  await cluster.untilReady('talker');
  const run = async () => (await cluster.pod('talker'))?.status?.containerStatuses?.[0]?.containerID;
  const began = await run();
  for (const word of ['first', 'second']) {
    const client = cluster.spawnKubectl(['attach', '-i', '-q', 'talker']);
    client.stdin?.write(`${word}\n`);
    await hears(client, `heard ${word}`);
    client.kill('SIGKILL');
    await once(client, 'close');
  }
  const watcher = cluster.spawnKubectl(['attach', '-q', 'talker']);
  const speaker = cluster.spawnKubectl(['attach', '-i', '-q', 'talker']);
  try {
    // The time at which a reader is attached is not reported: repeat until it is received.
    const speaking = setInterval(() => speaker.stdin?.write('to both\n'), 200);
    await Promise.all([hears(watcher, 'heard to both'), hears(speaker, 'heard to both')]).finally(() =>
      clearInterval(speaking),
    );
  } finally {
    for (const client of [watcher, speaker]) client.kill('SIGKILL');
  }
  assert.equal(await run(), began, 'the container runs on without them');
  assert.doesNotMatch((await cluster.kubectl(['logs', 'talker'])).stdout, /end of input/);
  const missing = await cluster.kubectl(['attach', 'talker', '-c', 'missing']);
  assert.notEqual(missing.code, 0);
  assert.match(missing.stderr, /missing/);
  await cluster.kubectl(['delete', 'pod', 'talker']);
});

test('attach to a container whose input ends with its first client: kubectl run -i answers and ends', {
  skip,
}, async () => {
  const ran = await cluster.kubectl(
    ['run', 'once', '-i', '--rm', '-q', '--restart=Never', `--image=${busyboxImage}`, '--', '-c', 'wc -c'],
    'x'.repeat(5000),
  );
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal(ran.stdout.trim(), '5000');
});

test('a Service without a ready pod refuses at once, from a pod and from the host', { skip }, async () => {
  await cluster.apply(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'empty' },
      spec: { selector: { app: 'nobody' }, ports: [{ port: 80 }] },
    },
    pod({ name: 'caller' }),
  );
  await cluster.untilReady('caller');
  const ask = ['exec', 'caller', '--', 'timeout', '20', 'wget', '-qO-', 'http://empty/'];
  await cluster.until('the refusal', async () =>
    (await cluster.kubectl(ask)).stderr.includes('Connection refused'),
  );
  const address = (await cluster.kubectl(['get', 'service', 'empty', '-o', 'jsonpath={.spec.clusterIP}']))
    .stdout;
  await assert.rejects(
    fetch(`http://${address}/`, { signal: AbortSignal.timeout(20_000) }),
    (error: Error) => {
      assert.equal((error.cause as NodeJS.ErrnoException).code, 'ECONNREFUSED');
      return true;
    },
  );
  await cluster.kubectl(['delete', 'pod/caller', 'service/empty']);
});
