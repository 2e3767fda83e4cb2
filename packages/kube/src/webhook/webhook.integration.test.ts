/** Webhooks called by the API server: admission over TLS with self-signed certificates that are rotated meanwhile. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import { startApiServer } from '@slurm-operator/apiserver';
import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';
import { FakeClock, until } from '../../testing/index.ts';
import {
  ApiError,
  allow,
  type CertificateSource,
  type ConfigMap,
  certificateFiles,
  configMaps,
  createClient,
  deny,
  kubeconfigConfig,
  type Log,
  Metrics,
  SelfSignedCertificates,
  secrets,
  silent,
  validatingWebhookConfigurations,
  WebhookServer,
} from '../index.ts';

const DAY = 86_400_000;
const configMap = (name: string, data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

function serve(t: TestContext, certificates: CertificateSource, metrics?: Metrics): WebhookServer {
  const server = new WebhookServer({
    certificates,
    port: 0,
    host: '127.0.0.1',
    ...(metrics === undefined ? {} : { metrics }),
  });
  const stop = new AbortController();
  server
    .validate<ConfigMap>('/validate', ({ object }) =>
      object?.data?.['colour'] === 'red'
        ? deny('data.colour is "red": choose another')
        : allow('colours are deprecated'),
    )
    .mutate<ConfigMap>('/mutate', ({ object }) =>
      object === undefined ? allow() : { object: { ...object, data: { ...object.data, stamped: 'yes' } } },
    )
    .validate('/broken', () => {
      throw new Error('the handler has a bug');
    })
    .convert('/convert', (object, desired) => ({ ...object, apiVersion: desired, converted: true }));
  const running = server.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  return server;
}

/** The certificate of a new connection. */
function shown(port: number): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      const certificate = socket.getPeerX509Certificate();
      socket.destroy();
      if (certificate === undefined) reject(new Error('no certificate'));
      else resolve(certificate);
    });
    socket.on('error', reject);
  });
}

test('the API server validates and mutates through it, with the injected self-signed authority', async (t) => {
  const api = await startApiServer();
  const client = createClient(await kubeconfigConfig({ text: api.kubeconfig() }), { rateLimit: false });
  t.after(async () => {
    client.close();
    await api.stop();
  });
  const certificates = new SelfSignedCertificates(client, {
    secret: { namespace: 'default', name: 'webhook-certs' },
    dnsNames: ['127.0.0.1'],
    inject: [
      { kind: 'validating', name: 'colours' },
      { kind: 'mutating', name: 'not-there-yet' },
    ],
    period: 20,
  });
  const metrics = new Metrics();
  const server = serve(t, certificates, metrics);
  await until('it listens', () => server.port !== undefined);
  await client.create(validatingWebhookConfigurations, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'colours' },
    webhooks: [
      {
        name: 'colours.example.org',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        clientConfig: { url: `https://127.0.0.1:${server.port}/validate` },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
      },
    ],
  });
  await until('the authority is injected', async () => {
    const live = await client.get(validatingWebhookConfigurations, { name: 'colours' });
    return (live.webhooks?.[0]?.clientConfig.caBundle ?? '') !== '';
  });
  await client.create(configMaps, configMap('blue', { colour: 'blue' }));
  await assert.rejects(
    client.create(configMaps, configMap('red', { colour: 'red' })),
    (error) => error instanceof ApiError && /data.colour is "red": choose another/.test(error.message),
  );
  assert.match(
    await metrics.expose(),
    /controller_runtime_webhook_requests_total\{webhook="\/validate",code="200"\} 2/,
  );

  // Remove the serving certificate: a new one of the same authority is created, and no request fails.
  const before = await shown(server.port ?? 0);
  const secret = await client.get(secrets, { namespace: 'default', name: 'webhook-certs' });
  await client.mergePatch(secrets, secret.metadata, { data: { 'tls.crt': '' } });
  await until(
    'a new certificate is served',
    async () => (await shown(server.port ?? 0)).serialNumber !== before.serialNumber,
  );
  await client.create(configMaps, configMap('green', { colour: 'green' }));
});

test('renews certificates in time, and distributes a new authority before it signs', async (t) => {
  const api = await startApiServer();
  const client = createClient(await kubeconfigConfig({ text: api.kubeconfig() }), { rateLimit: false });
  t.after(async () => {
    client.close();
    await api.stop();
  });
  const clock = new FakeClock({ wall: Date.now() });
  const options = {
    secret: { namespace: 'default', name: 'certs' },
    dnsNames: ['hook.default.svc'],
    lifetime: 90 * DAY,
    authorityLifetime: 900 * DAY,
  };
  const certificates = new SelfSignedCertificates(client, options, { clock });
  const secret = async () => {
    const { data } = await client.get(secrets, options.secret);
    return (name: string) => Buffer.from(data?.[name] ?? '', 'base64').toString();
  };
  const first = await certificates.ensure();
  assert.deepEqual(await certificates.ensure(), first, 'nothing is due');
  clock.jump(61 * DAY);
  const second = await certificates.ensure();
  assert.notEqual(second?.cert, first?.cert);
  const oldAuthority = (await secret())('ca.crt');

  clock.jump(560 * DAY);
  // Two replicas at the same time: one writes, the other conflicts and uses the result.
  const answers = await Promise.all([
    certificates.ensure(),
    new SelfSignedCertificates(client, options, { clock }).ensure(),
  ]);
  assert.ok(answers.some((answer) => answer !== undefined));
  const bundle = (await secret())('ca.crt');
  assert.equal(bundle.match(/BEGIN CERTIFICATE/g)?.length, 2, 'both authorities are trusted');
  assert.ok(bundle.endsWith(oldAuthority));
  const during = await secret();
  assert.ok(
    new X509Certificate(during('tls.crt')).verify(new X509Certificate(oldAuthority).publicKey),
    'still the old one signs',
  );
  const after = await certificates.ensure();
  assert.ok(
    new X509Certificate(after?.cert ?? '').verify(new X509Certificate(bundle).publicKey),
    'now the new one does',
  );
});

test('reloads mounted files, ignores a mismatched pair, and serves reviews meanwhile', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'webhook-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const now = Date.now();
  const authority = await createAuthority({ name: 'ca', now, lifetime: DAY });
  const make = () => issueServing(authority, { hosts: ['127.0.0.1'], now, lifetime: DAY });
  const [one, two] = [await make(), await make()];
  const write = (cert: string, key: string) => {
    writeFileSync(join(directory, 'tls.crt'), cert);
    writeFileSync(join(directory, 'tls.key'), key);
  };
  write(one.certificatePem, one.keyPem);
  let complaints = 0;
  const log: Log = { ...silent, warn: () => void (complaints += 1) };
  const server = serve(t, certificateFiles({ directory, period: 10, log }));
  await until('it listens', () => server.port !== undefined);
  const port = server.port ?? 0;
  const serial = (pem: string) => new X509Certificate(pem).serialNumber;
  assert.equal((await shown(port)).serialNumber, serial(one.certificatePem));
  const before = complaints;
  writeFileSync(join(directory, 'tls.crt'), two.certificatePem);
  await until('the pair that does not fit was looked at', () => complaints > before);
  assert.equal(
    (await shown(port)).serialNumber,
    serial(one.certificatePem),
    'a certificate without its key is not used',
  );
  writeFileSync(join(directory, 'tls.key'), two.keyPem);
  await until(
    'the new pair is served',
    async () => (await shown(port)).serialNumber === serial(two.certificatePem),
  );

  const ask = (path: string, body: string, method = 'POST') =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, path, method, ca: authority.certificatePem },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  const review = (object: unknown) =>
    JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: { uid: 'u1', operation: 'CREATE', object },
    });
  const answer = async (path: string, body: string) =>
    (JSON.parse((await ask(path, body)).text) as { response: Record<string, unknown> }).response;

  const allowed = await answer('/validate', review(configMap('a', {})));
  assert.deepEqual(allowed, { uid: 'u1', allowed: true, warnings: ['colours are deprecated'] });
  const mutated = await answer('/mutate', review(configMap('a', { k: 'v' })));
  const patch = JSON.parse(Buffer.from(mutated['patch'] as string, 'base64').toString()) as unknown;
  assert.deepEqual(patch, [{ op: 'add', path: '/data/stamped', value: 'yes' }]);
  const broken = await answer('/broken', review({}));
  assert.deepEqual(broken['status'], {
    code: 500,
    reason: 'InternalError',
    message: 'the handler has a bug',
  });
  const converted = await answer(
    '/convert',
    JSON.stringify({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { uid: 'u2', desiredAPIVersion: 'v2', objects: [{ apiVersion: 'v1', kind: 'X' }] },
    }),
  );
  assert.deepEqual(converted['convertedObjects'], [{ apiVersion: 'v2', kind: 'X', converted: true }]);
  assert.equal((await ask('/validate', 'not json')).status, 400);
  assert.equal((await ask('/validate', '{"kind":"Other"}')).status, 400);
  assert.equal((await ask('/nowhere', '{}')).status, 404);
  assert.equal((await ask('/validate', '', 'GET')).status, 405);
});

test('supports HTTP/2 beside HTTP/1 if enabled', async () => {
  const authority = await createAuthority({ name: 'a', now: Date.now(), lifetime: DAY });
  const pair = await issueServing(authority, { hosts: ['localhost'], now: Date.now(), lifetime: DAY });
  const certificates: CertificateSource = {
    run(use, signal) {
      use({ cert: pair.certificatePem, key: pair.keyPem });
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    },
  };
  for (const http2 of [true, false]) {
    const server = new WebhookServer({ certificates, port: 0, host: '127.0.0.1', http2 });
    server.validate('/validate', () => allow());
    const stop = new AbortController();
    const running = server.run(stop.signal);
    await until('it listens', () => server.port !== undefined);
    const session = connectHttp2(`https://localhost:${server.port}`, { ca: authority.certificatePem });
    const outcome = await new Promise<string>((resolve) => {
      session.once('error', () => resolve('refused'));
      const stream = session.request({ ':path': '/validate', ':method': 'POST' });
      stream.once('error', () => resolve('refused'));
      stream.once('response', () => {
        let text = '';
        stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
        stream.once('end', () => resolve(text));
      });
      stream.end(JSON.stringify({ kind: 'AdmissionReview', request: { uid: 'u' } }));
    });
    assert.match(outcome, http2 ? /"allowed":true/ : /^refused$/);
    assert.equal(
      await new Promise<number>((resolve, reject) => {
        const asked = request(
          {
            host: 'localhost',
            port: server.port,
            path: '/healthz',
            ca: authority.certificatePem,
            agent: false,
          },
          (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          },
        );
        asked.once('error', reject).end();
      }),
      200,
    );
    stop.abort();
    session.close();
    await running;
  }
});
