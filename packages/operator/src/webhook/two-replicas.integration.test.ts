/** Two webhook programs behind one Service: both serve certificates that the registered bundle trusts, and either one suffices. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { customResourceDefinition, kinds } from '@slurm-operator/api';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  kubeconfigConfig,
  namespaces,
  secrets,
  services,
  validatingWebhookConfigurations,
} from '@slurm-operator/kube';
import { freePort, until } from '@slurm-operator/kube/testing';
import { aController } from '../../testing/objects.ts';
import { patientConfiguration } from '../../testing/patient-configuration.ts';
import { sendManifest } from '../../testing/send-manifest.ts';
import { runWebhook } from '../programs/run-webhook.ts';

const place = { name: 'hooks', service: { name: 'hook', namespace: 'slinky' } };
const secret = { namespace: 'slinky', name: 'hook-certs' };
let server: ApiServer;
let client: Client;
let directory: string;
const replicas: { readonly port: number; readonly stop: () => Promise<unknown> }[] = [];

async function start(): Promise<void> {
  const port = await freePort();
  const stop = new AbortController();
  const ended = runWebhook(
    [
      `--kubeconfig=${join(directory, 'kubeconfig')}`,
      '--log-level=error',
      '--health-addr=0',
      `--server-addr=127.0.0.1:${port}`,
      '--cert-secret=hook-certs',
      '--service-name=hook',
      '--validating-configuration=hooks',
      '--leader-elect',
    ],
    { POD_NAMESPACE: 'slinky' },
    stop.signal,
  );
  ended.catch(() => undefined);
  replicas.push({
    port,
    stop: () => {
      stop.abort();
      return ended;
    },
  });
}

before(async () => {
  server = await startApiServer();
  client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { userAgent: 'test' });
  directory = await mkdtemp(join(tmpdir(), 'two-webhooks-'));
  await writeFile(join(directory, 'kubeconfig'), server.kubeconfig());
  for (const kind of kinds)
    await client.create(customResourceDefinitions, customResourceDefinition(kind) as never);
  for (const name of ['hpc', 'slinky'])
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await client.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: place.service,
    spec: { ports: [{ name: 'webhook', port: 443 }] },
  } as never);
  await client.create(validatingWebhookConfigurations, patientConfiguration(place) as never);
  await start();
  await start();
  for (const [index, { port }] of replicas.entries())
    await client.json('POST', '/apis/discovery.k8s.io/v1/namespaces/slinky/endpointslices', {
      body: {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: `hook-${index}`, labels: { 'kubernetes.io/service-name': 'hook' } },
        addressType: 'FQDN',
        endpoints: [{ addresses: ['localhost'] }],
        ports: [{ name: 'webhook', port }],
      },
    });
});
after(async () => {
  await Promise.all(replicas.map(({ stop }) => stop()));
  client.close();
  await server.stop();
  await rm(directory, { recursive: true });
});

/** The handshake of the API server with one replica, with the bundle that is registered now. */
async function isTrusted(port: number): Promise<boolean> {
  const { webhooks } = await client.get(validatingWebhookConfigurations, { name: 'hooks' });
  const ca = Buffer.from(webhooks?.[0]?.clientConfig.caBundle ?? '', 'base64').toString();
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'hook.slinky.svc' });
    socket.once('secureConnect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

const refuses = async (): Promise<boolean> => {
  const { apiVersion, kind, spec } = aController({ configFileRefs: [{ name: 'missing' }] });
  const { status } = await sendManifest(
    client,
    'POST',
    '/apis/slinky.slurm.net/v1beta1/namespaces/hpc/controllers?dryRun=All',
    { apiVersion, kind, metadata: { name: 'x' }, spec },
  );
  return status === 403;
};

test('both start with one authority, and both are trusted', async () => {
  for (const { port } of replicas) await until(`port ${port} is trusted`, () => isTrusted(port));
  const reviews = await Promise.all(Array.from({ length: 12 }, refuses));
  assert.deepEqual(new Set(reviews), new Set([true]), 'whichever is asked refuses');
});

test('after the Secret is deleted both serve what a new authority signed', async () => {
  const old = (await client.get(secrets, secret)).data?.['ca.crt'];
  await client.delete(secrets, secret);
  await until('a new authority', async () => {
    const now = (await client.find(secrets, secret))?.data?.['ca.crt'];
    return now !== undefined && now !== old;
  });
  for (const { port } of replicas) await until(`port ${port} is trusted again`, () => isTrusted(port));
});

test('with one replica gone every request is still accepted or reviewed', async () => {
  await replicas[0]?.stop();
  const spec = { ...aController().spec };
  const statuses = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const body = {
        apiVersion: 'slinky.slurm.net/v1beta1',
        kind: 'Controller',
        metadata: { name: `c${index}` },
        spec,
      };
      const { status } = await sendManifest(
        client,
        'POST',
        '/apis/slinky.slurm.net/v1beta1/namespaces/hpc/controllers',
        body,
      );
      return status;
    }),
  );
  assert.deepEqual(new Set(statuses), new Set([201]));
  await until('the other one still refuses', refuses);
});
