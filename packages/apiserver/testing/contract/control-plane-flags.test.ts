import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlPlaneFlags, files } from './control-plane-flags.ts';

const programs = controlPlaneFlags({
  directory: '/plane',
  ports: { etcdClient: 1, etcdPeer: 2, secure: 3 },
});

test('every file that a program is told to read is one of those that are written', () => {
  const written = new Set(Object.values(files).map((name) => `/plane/${name}`));
  const read = Object.values(programs)
    .flat()
    .filter((flag) => /^--(?:.*-file|kubeconfig)=/.test(flag))
    .map((flag) => flag.slice(flag.indexOf('=') + 1));
  assert.deepEqual(new Set(read), written);
});

test('the API server reads what etcd serves, and nothing listens beyond this machine', () => {
  assert.ok(programs.etcd.includes('--listen-client-urls=http://127.0.0.1:1'));
  assert.ok(programs['kube-apiserver'].includes('--etcd-servers=http://127.0.0.1:1'));
  assert.ok(programs['kube-apiserver'].includes('--secure-port=3'));
  const addresses = Object.values(programs)
    .flat()
    .filter((flag) => /^--(?:listen|bind|advertise)-/.test(flag));
  assert.equal(addresses.length, 5);
  for (const flag of addresses) assert.match(flag, /127\.0\.0\.1/);
});

test('tokens are checked with the key that belongs to the one they are signed with', () => {
  assert.ok(programs['kube-apiserver'].includes('--service-account-signing-key-file=/plane/sa.key'));
  assert.ok(programs['kube-apiserver'].includes('--service-account-key-file=/plane/sa.pub'));
  assert.ok(programs['kube-controller-manager'].includes('--service-account-private-key-file=/plane/sa.key'));
});
