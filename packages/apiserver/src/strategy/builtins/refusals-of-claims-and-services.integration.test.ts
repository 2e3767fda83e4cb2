/** Rules of claims, Services and StatefulSets that no recording shows, but that a real server has. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callOnce } from '../../../testing/call-once.ts';
import { type ApiServer, startApiServer } from '../../server.ts';

interface Answer {
  readonly message?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
}

let server: ApiServer;
const at = '/api/v1/namespaces/default';

before(async () => {
  server = await startApiServer();
});
after(() => server.stop());

const post = (path: string, body: object) => callOnce<Answer>(server, 'POST', path, body);
const patch = (path: string, body: object) => callOnce<Answer>(server, 'PATCH', path, body);
const message = ({ body }: { body: Answer }) => body.message?.replace(/^.* is invalid: /, '') ?? 'accepted';

const claim = (name: string, spec: object) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, ...spec },
});

test('a claim gets both fields of its data source, and loses one that it cannot have', async () => {
  const path = `${at}/persistentvolumeclaims?dryRun=All`;
  const source = { kind: 'PersistentVolumeClaim', name: 'x' };
  const { body } = await post(path, claim('a', { dataSource: source }));
  assert.deepEqual(body.spec?.['dataSourceRef'], source);
  const other = await post(path, claim('a', { dataSource: { kind: 'Pod', name: 'x' } }));
  assert.equal(other.body.spec?.['dataSource'], undefined);
  assert.match(
    message(await post(path, claim('a', { dataSourceRef: { kind: 'Pod', name: 'x' } }))),
    /spec\.dataSourceRef: Invalid value: "Pod": must be 'PersistentVolumeClaim'/,
  );
});

const storageClass = (name: string, more: object) =>
  post('/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name },
    provisioner: 'example.org/x',
    ...more,
  });

test('a bound claim may ask for less after a failed expansion, but not for less than it has', async () => {
  const path = `${at}/persistentvolumeclaims`;
  await storageClass('grows', { allowVolumeExpansion: true });
  await post(path, claim('b', { storageClassName: 'grows' }));
  await patch(`${path}/b`, { spec: { volumeName: 'pv' } });
  await patch(`${path}/b/status`, { status: { phase: 'Bound', capacity: { storage: '2Gi' } } });
  const ask = async (storage: string) =>
    message(await patch(`${path}/b?dryRun=All`, { spec: { resources: { requests: { storage } } } }));
  assert.equal(await ask('3Gi'), 'accepted');
  assert.equal(await ask('9Gi'), 'accepted');
  assert.equal(
    await ask('1Gi'),
    'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
  );
});

test('a claim keeps its mode and does not lose the class of its attributes', async () => {
  const path = `${at}/persistentvolumeclaims`;
  await post(path, claim('kept', { volumeAttributesClassName: 'fast' }));
  await patch(`${path}/kept/status`, { status: { phase: 'Bound' } });
  const change = async (spec: object) => message(await patch(`${path}/kept?dryRun=All`, { spec }));
  assert.equal(await change({ volumeAttributesClassName: 'slow' }), 'accepted');
  assert.match(
    await change({ volumeAttributesClassName: null }),
    /spec\.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden/,
  );
  assert.match(
    await change({ volumeMode: 'Block' }),
    /^\[spec: Forbidden: spec is immutable [^]*, volumeMode: Invalid value: "Block": field is immutable\]$/,
  );
});

test('a PersistentVolume is checked field by field', async () => {
  const volume = async (spec: object) =>
    message(
      await post('/api/v1/persistentvolumes?dryRun=All', {
        metadata: { name: 'v' },
        spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
      }),
    );
  assert.equal(await volume({ hostPath: { path: '/x' } }), 'accepted');
  assert.equal(await volume({ hostPath: {} }), 'spec.hostPath.path: Required value');
  assert.equal(
    await volume({ local: { path: '/x' } }),
    'spec.nodeAffinity: Required value: Local volume requires node affinity',
  );
  assert.equal(await volume({ csi: { driver: 'x' } }), 'spec.csi.volumeHandle: Required value');
  assert.equal(
    await volume({ hostPath: { path: '/x' }, persistentVolumeReclaimPolicy: 'Keep' }),
    'spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"',
  );
  assert.equal(
    await volume({ hostPath: { path: '/x' }, accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }),
    'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
  );
});

test('a claim grows once it is bound, and only where its class lets volumes grow', async () => {
  const path = `${at}/persistentvolumeclaims`;
  await storageClass('fixed', {});
  const grow = async (name: string) =>
    message(
      await patch(`${path}/${name}?dryRun=All`, { spec: { resources: { requests: { storage: '9Gi' } } } }),
    );
  await post(path, claim('unbound', { storageClassName: 'grows' }));
  assert.match(await grow('unbound'), /spec: Forbidden: spec is immutable after creation/);
  for (const [name, spec] of [
    ['of-fixed', { storageClassName: 'fixed' }],
    ['of-none', { storageClassName: 'absent' }],
  ] as const) {
    await post(path, claim(name, spec));
    await patch(`${path}/${name}/status`, { status: { phase: 'Bound', capacity: { storage: '5Gi' } } });
    assert.equal(
      await grow(name),
      `persistentvolumeclaims "${name}" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`,
    );
  }
});

test('a Service gets a node port only from the range, and only one that is free', async () => {
  const service = (name: string, nodePort: number) =>
    post(`${at}/services`, {
      metadata: { name },
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort }] },
    });
  assert.match(
    message(await service('a', 80)),
    /^spec\.ports\[0\]\.nodePort: Invalid value: 80: .* 30000-32767$/,
  );
  assert.equal(message(await service('a', 30_100)), 'accepted');
  assert.equal(
    message(await service('b', 30_100)),
    'spec.ports[0].nodePort: Invalid value: 30100: provided port is already allocated',
  );
});

test('the load balancer of a Service stays the same, and only such a Service has addresses of one', async () => {
  const path = `${at}/services`;
  await post(path, { metadata: { name: 'lb' }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
  await post(path, { metadata: { name: 'plain' }, spec: { ports: [{ port: 80 }] } });
  assert.equal(
    message(await patch(`${path}/lb`, { spec: { loadBalancerClass: 'a/b' } })),
    'spec.loadBalancerClass: Invalid value: "a/b": may not change once set',
  );
  const status = { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } };
  assert.equal(message(await patch(`${path}/lb/status`, status)), 'accepted');
  assert.match(
    message(await patch(`${path}/plain/status`, status)),
    /^status\.loadBalancer\.ingress: Forbidden/,
  );
});

test('a StatefulSet has a name that can be part of a host name, and a template with valid labels', async () => {
  const set = (name: string, labels: object) =>
    post('/apis/apps/v1/namespaces/default/statefulsets?dryRun=All', {
      metadata: { name },
      spec: {
        serviceName: 'x',
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b', ...labels } },
          spec: { containers: [{ name: 'c', image: 'i' }] },
        },
      },
    });
  assert.match(
    message(await set('a.b', {})),
    /^metadata\.name: Invalid value: "a\.b": must not contain dots$/,
  );
  assert.match(message(await set('a', { 'x y': 'z' })), /^spec\.template\.labels: Invalid value: "x y"/);
  assert.equal(message(await set('a', {})), 'accepted');
});

test('a number must fit its field, and one beyond 2^53 keeps every digit', async () => {
  const set = (replicas: number) =>
    post('/apis/apps/v1/namespaces/default/deployments', { metadata: { name: 'd' }, spec: { replicas } });
  assert.match(
    message(await set(2 ** 31)),
    /cannot unmarshal number 2147483648 into Go struct field DeploymentSpec\.spec\.replicas of type int32$/,
  );
  const { text } = await callOnce(server, 'POST', `${at}/configmaps`, {
    metadata: { name: 'c', generation: JSON.rawJSON('9007199254740993') },
  });
  assert.match(text, /"generation":9007199254740993\b/);
});
