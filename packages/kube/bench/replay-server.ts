/** A TLS server that replays what an API server sends to a watch on very many pods. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';

const POD = podTemplate();

/** A worker pod as an API server returns it: about 7 KB, a third of it managedFields. */
function podTemplate(): { json: string; bytes: number } {
  const env = Array.from({ length: 11 }, (_, i) => ({
    name: `SETTING_${i}`,
    value: `value-of-setting-number-${i}`,
  }));
  const mounts = Array.from({ length: 6 }, (_, i) => ({
    name: `volume-${i}`,
    mountPath: `/mnt/volume-${i}`,
    readOnly: i % 2 === 0,
  }));
  const container = (name: string) => ({
    name,
    image: `registry.example.org/team/${name}:1.2.3`,
    env: name === 'main' ? env : [],
    resources: { limits: { cpu: '4', memory: '16Gi' }, requests: { cpu: '4', memory: '16Gi' } },
    volumeMounts: mounts,
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  });
  const field = (names: string[]) => Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
  const managed = (manager: string) => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-01-02T03:04:05Z',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:metadata': { 'f:labels': field(['app', 'component', 'instance', 'revision']) },
      'f:spec': {
        'f:containers': {
          'k:{"name":"main"}': {
            '.': {},
            ...field(['image', 'imagePullPolicy', 'name', 'resources', 'terminationMessagePath']),
            'f:env': Object.fromEntries(
              env.map(({ name }) => [`k:{"name":"${name}"}`, field(['name', 'value'])]),
            ),
          },
        },
        ...field(['dnsPolicy', 'enableServiceLinks', 'restartPolicy', 'schedulerName', 'securityContext']),
      },
    },
  });
  const condition = (type: string) => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: '2026-01-02T03:04:05Z',
    observedGeneration: 1,
  });
  const pod = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: 'worker-@N@',
      generateName: 'worker-',
      namespace: 'jobs',
      uid: '00000000-0000-4000-8000-@U@',
      resourceVersion: '@V@',
      generation: 1,
      creationTimestamp: '2026-01-02T03:04:05Z',
      labels: { app: 'worker', component: 'compute', instance: 'cluster-a', revision: '6b8f9c7d5' },
      annotations: { 'example.org/checksum': '0123456789abcdef0123456789abcdef', 'example.org/index': '@N@' },
      ownerReferences: [
        {
          apiVersion: 'example.org/v1',
          kind: 'WorkerSet',
          name: 'workers',
          uid: 'f0f0',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [managed('operator'), managed('kubelet')],
    },
    spec: {
      volumes: mounts.map(({ name }) => ({ name, emptyDir: {} })),
      containers: [container('main'), container('sidecar')],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      nodeName: 'node-@M@',
      schedulerName: 'default-scheduler',
      tolerations: [
        {
          key: 'node.kubernetes.io/not-ready',
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 300,
        },
        {
          key: 'node.kubernetes.io/unreachable',
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 300,
        },
      ],
    },
    status: {
      phase: 'Running',
      conditions: [
        'PodReadyToStartContainers',
        'Initialized',
        'Ready',
        'ContainersReady',
        'PodScheduled',
      ].map(condition),
      hostIP: '10.0.0.1',
      podIP: '10.1.@I@',
      podIPs: [{ ip: '10.1.@I@' }],
      startTime: '2026-01-02T03:04:05Z',
      containerStatuses: ['main', 'sidecar'].map((name) => ({
        name,
        state: { running: { startedAt: '2026-01-02T03:04:06Z' } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image: `registry.example.org/team/${name}:1.2.3`,
        imageID: `registry.example.org/team/${name}@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef`,
        containerID: 'containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
        started: true,
      })),
      qosClass: 'Guaranteed',
    },
  };
  const json = JSON.stringify(pod);
  return { json, bytes: json.length };
}

/** The template, cut at the places that differ between pods: rendering must cost the machine little. */
const PIECES = POD.json.split(/@([NUVMI])@/);

function event(type: string, index: number, version: number): string {
  const values: Record<string, string> = {
    N: String(index),
    U: String(index).padStart(12, '0'),
    V: String(version),
    M: String(index % 1_000),
    I: `${(index >> 8) & 255}.${index & 255}`,
  };
  let pod = '';
  for (let at = 0; at < PIECES.length; at += 2)
    pod += `${PIECES[at] ?? ''}${values[PIECES[at + 1] ?? ''] ?? ''}`;
  return `{"type":"${type}","object":${pod}}\n`;
}

/** Serves `count` pods to a streaming list and then `rate` changes a second. Prints where it listens. */
export async function runReplayServer(count: number, rate: number): Promise<void> {
  const now = Date.now();
  const authority = await createAuthority({ name: 'bench', now, lifetime: 86_400_000 });
  const { certificatePem, keyPem } = await issueServing(authority, {
    hosts: ['127.0.0.1'],
    now,
    lifetime: 86_400_000,
  });
  const serve = async (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    let version = 1_000;
    // In pieces of about 64 KB, as a server with buffered writes sends them.
    let piece = '';
    for (let i = 0; i < count; i += 1) {
      piece += event('ADDED', i, (version += 1));
      if (piece.length < 65_536) continue;
      if (!response.write(piece)) await once(response, 'drain');
      piece = '';
    }
    response.write(
      `${piece}{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"${version}","annotations":{"k8s.io/initial-events-end":"true"}}}}\n`,
    );
    let sent = 0;
    const began = performance.now();
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - began) / 1000) * rate);
      for (; sent < due; sent += 1) response.write(event('MODIFIED', (sent * 7_919) % count, (version += 1)));
    }, 10);
    response.on('close', () => clearInterval(timer));
  };
  const server = createServer(
    { cert: certificatePem, key: keyPem },
    (request, response) => void serve(request, response),
  );
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.send?.({ url: `https://127.0.0.1:${port}`, ca: authority.certificatePem, podBytes: POD.bytes });
  });
}
