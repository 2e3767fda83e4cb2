/** Two replicas with one Secret: the registered bundle trusts the certificates of both during every rotation. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import { FakeClock } from '../../testing/index.ts';
import type { Client } from '../client/client.ts';
import {
  ConflictError,
  createClient,
  kubeconfigConfig,
  SelfSignedCertificates,
  secrets,
  validatingWebhookConfigurations,
} from '../index.ts';
import { bundle } from './plan-certificates.ts';

const DAY = 86_400_000;
let api: ApiServer;
let client: Client;
before(async () => {
  api = await startApiServer();
  client = createClient(await kubeconfigConfig({ text: api.kubeconfig() }), { rateLimit: false });
});
after(async () => {
  client.close();
  await api.stop();
});

const optionsFor = (name: string) => ({
  secret: { namespace: 'default', name },
  dnsNames: [`${name}.default.svc`],
  inject: [{ kind: 'validating' as const, name }],
  lifetime: 90 * DAY,
  authorityLifetime: 900 * DAY,
});

async function register(name: string): Promise<void> {
  await client.create(validatingWebhookConfigurations, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: 'x.example.org',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { service: { namespace: 'default', name } },
        rules: [
          { apiGroups: ['x.example.org'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] },
        ],
      },
    ],
  } as never);
}

async function registered(name: string): Promise<string[]> {
  const { webhooks } = await client.get(validatingWebhookConfigurations, { name });
  return bundle(Buffer.from(webhooks?.[0]?.clientConfig.caBundle ?? '', 'base64').toString());
}

const trusts = (authorities: readonly string[], cert: string): boolean =>
  authorities.some((pem) => new X509Certificate(cert).verify(new X509Certificate(pem).publicKey));

/** A client with one replaced method. */
const withCall = (call: 'find' | 'patch', replacement: (...args: never[]) => unknown): Client =>
  new Proxy(client, {
    get: (target, key) => {
      if (key === call) return replacement;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });

test('over years of rotations both replicas serve only certificates that the webhook configuration trusts', async () => {
  const name = 'years';
  await register(name);
  const clock = new FakeClock({ wall: Date.now() });
  const replicas = [0, 1].map(() => ({
    source: new SelfSignedCertificates(client, optionsFor(name), { clock }),
    serves: '',
  }));
  const signers = new Set<string>();
  for (let step = 0; step < 160; step++) {
    // Mostly both poll within seconds, sometimes weeks later: then a renewal is due.
    clock.jump(step % 4 === 0 ? 23 * DAY : 12_000);
    const due = step % 3 === 0 ? replicas : [replicas[step % 2] ?? replicas[0]];
    await Promise.all(
      due.map(async (replica) => {
        const answer = await replica?.source.ensure();
        if (replica !== undefined && answer !== undefined) replica.serves = answer.cert;
      }),
    );
    const authorities = await registered(name);
    signers.add(authorities[0] ?? '');
    for (const { serves } of replicas)
      assert.ok(serves === '' || trusts(authorities, serves), `step ${step}: one replica is not trusted`);
  }
  assert.ok(signers.size >= 2, 'the authority was replaced meanwhile');
});

test('does not serve a certificate before the webhook configuration trusts its authority', async () => {
  const name = 'unknown';
  await register(name);
  const refused = withCall('patch', () =>
    Promise.reject(new ConflictError('changed meanwhile', { code: 409 } as never)),
  );
  assert.equal(await new SelfSignedCertificates(refused, optionsFor(name)).ensure(), undefined);
  const answer = await new SelfSignedCertificates(client, optionsFor(name)).ensure();
  assert.ok(trusts(await registered(name), answer?.cert ?? ''));
});

test('a replica that read an outdated Secret does not restore the old authority', async () => {
  const name = 'stale';
  await register(name);
  await new SelfSignedCertificates(client, optionsFor(name)).ensure();
  const [old] = await registered(name);
  let overtaken = false;
  const slow = withCall('find', async (...args: never[]) => {
    const [resource] = args as unknown as [{ kind: string }];
    // Between its read of the Secret and its write of the configuration another replica creates a new authority.
    if (resource.kind === 'ValidatingWebhookConfiguration' && !overtaken) {
      overtaken = true;
      await client.delete(secrets, { namespace: 'default', name });
      await new SelfSignedCertificates(client, optionsFor(name)).ensure();
    }
    return (client.find as (...all: never[]) => unknown)(...args);
  });
  await new SelfSignedCertificates(slow, optionsFor(name)).ensure();
  assert.ok(overtaken);
  const now = await registered(name);
  assert.ok(!now.includes(old ?? ''), 'the new authority stays registered');
});
