/** When the webhook program reports that it is ready: once it serves requests, whether or not it is the leader. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import { createClient, kubeconfigConfig, leases, namespaces } from '@slurm-operator/kube';
import { freePort, until } from '@slurm-operator/kube/testing';
import { runWebhook } from './run-webhook.ts';

let server: ApiServer;
let directory: string;
before(async () => {
  server = await startApiServer();
  directory = await mkdtemp(join(tmpdir(), 'webhook-ready-'));
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

test('without a certificate it is alive and not ready; with one it is ready, although another process is the leader', async (t) => {
  const client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { userAgent: 'test' });
  t.after(() => client.close());
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'slinky' } });
  // No process takes this lease over while the test runs.
  await client.create(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'slurm-operator-webhook', namespace: 'slinky' },
    spec: {
      holderIdentity: 'another-process',
      leaseDurationSeconds: 36_000,
      acquireTime: new Date().toISOString().replace('Z', '000Z'),
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    },
  } as never);
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig());
  const certificates = await mkdtemp(join(directory, 'certificates-'));
  const health = await freePort();
  const stop = new AbortController();
  const ended = runWebhook(
    [
      `--kubeconfig=${kubeconfig}`,
      '--log-level=silent',
      `--health-addr=127.0.0.1:${health}`,
      `--server-addr=127.0.0.1:${await freePort()}`,
      `--cert-dir=${certificates}`,
      '--leader-elect',
      '--leader-elect-namespace=slinky',
    ],
    {},
    stop.signal,
  );
  ended.catch(() => undefined);
  t.after(async () => {
    stop.abort();
    await ended;
  });
  const page = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${health}/${path}`).catch(() => undefined);
    return { status: response?.status, text: (await response?.text()) ?? '' };
  };
  const patient = { seconds: 240 };
  await until('it to live', async () => (await page('healthz')).status === 200, patient);
  const early = await page('readyz');
  assert.notEqual(early.status, 200);
  assert.match(early.text, /\[-\]webhook/);
  const pair = await server.certificateFor(['hook.slinky.svc']);
  await writeFile(join(certificates, 'tls.key'), pair.keyPem);
  await writeFile(join(certificates, 'tls.crt'), pair.certificatePem);
  await until('it to be ready', async () => (await page('readyz')).status === 200, patient);
  const lease = await client.get(leases, { namespace: 'slinky', name: 'slurm-operator-webhook' });
  assert.equal(lease.spec?.holderIdentity, 'another-process');
});
