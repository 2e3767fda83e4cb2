/** The webhook program beside an API server that asks it: what it refuses, what it warns of, and that nothing depends on it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { annotation, customResourceDefinition, kinds, label } from '@slurm-operator/api';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  configMaps,
  createClient,
  customResourceDefinitions,
  kubeconfigConfig,
  mutatingWebhookConfigurations,
  namespaces,
  nodes,
  persistentVolumeClaims,
  pods,
  secrets,
  services,
  validatingWebhookConfigurations,
} from '@slurm-operator/kube';
import { freePort, until } from '@slurm-operator/kube/testing';
import { aController, aLoginSet, aNodeSet, aRestApi } from '../../testing/objects.ts';
import type { Manifest } from '../../testing/operator-world.ts';
import { patientConfiguration } from '../../testing/patient-configuration.ts';
import { accountName, granted, refusals, restrictedConfig, used } from '../../testing/restricted-config.ts';
import { sendManifest } from '../../testing/send-manifest.ts';
import { controllers, nodeSets } from '../cache/resources.ts';
import { runWebhook } from '../programs/run-webhook.ts';
import {
  bindingClusterRules,
  bindingNamespaceRules,
  certificateClusterRules,
  certificateNamespaceRules,
  replicaRules,
  webhookClusterRules,
  webhookNamespaceRules,
} from '../rbac/rules.ts';
import { mutatingConfiguration } from './configurations.ts';

const namespace = 'hpc';
const account = 'slurm-operator-webhook';
const place = { name: 'hooks', service: { name: 'hook', namespace: 'slinky' } };
let server: ApiServer;
let client: Client;
let directory: string;
let port: number;
let program: { stop: () => Promise<unknown> } | undefined;

const everywhere = [
  ...webhookNamespaceRules,
  ...webhookClusterRules,
  ...bindingNamespaceRules,
  ...bindingClusterRules,
  ...certificateClusterRules({ validating: 'hooks', mutating: 'hooks' }),
];
const atHome = [...certificateNamespaceRules({ secret: 'hook-certs' }), ...replicaRules];

function start(...flags: string[]): void {
  const stop = new AbortController();
  const args = [
    `--kubeconfig=${join(directory, 'kubeconfig')}`,
    '--log-level=error',
    '--health-addr=0',
    `--server-addr=127.0.0.1:${port}`,
    ...flags,
  ];
  const ended = runWebhook(
    args,
    { POD_NAMESPACE: 'slinky', POD_NAME: 'hook-0', NODE_NAME: 'm' },
    stop.signal,
  );
  ended.catch(() => undefined);
  program = {
    stop: () => {
      program = undefined;
      stop.abort();
      return ended;
    },
  };
}

const own = [
  '--cert-secret=hook-certs',
  '--service-name=hook',
  '--validating-configuration=hooks',
  '--mutating-configuration=hooks',
  '--leader-elect',
];

before(async () => {
  server = await startApiServer();
  client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { userAgent: 'test' });
  directory = await mkdtemp(join(tmpdir(), 'webhook-'));
  port = await freePort();
  for (const kind of kinds)
    await client.create(customResourceDefinitions, customResourceDefinition(kind) as never);
  for (const name of [namespace, 'slinky'])
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await restrictedConfig(server, client, account, {
    cluster: everywhere,
    namespaces: { slinky: atHome },
  });
  await writeFile(
    join(directory, 'kubeconfig'),
    await server.kubeconfigFor({ name: accountName(account), groups: ['system:authenticated'] }),
  );
  await client.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: place.service,
    spec: { ports: [{ name: 'webhook', port: 443 }] },
  } as never);
  await client.json('POST', '/apis/discovery.k8s.io/v1/namespaces/slinky/endpointslices', {
    body: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'hook-1', labels: { 'kubernetes.io/service-name': 'hook' } },
      addressType: 'FQDN',
      endpoints: [{ addresses: ['localhost'] }],
      ports: [{ name: 'webhook', port }],
    },
  });
  await client.create(validatingWebhookConfigurations, patientConfiguration(place) as never);
  await client.create(mutatingWebhookConfigurations, mutatingConfiguration(place) as never);
  start(...own);
  await until('our authority in both configurations', async () => {
    const both = [
      await client.get(validatingWebhookConfigurations, { name: 'hooks' }),
      await client.get(mutatingWebhookConfigurations, { name: 'hooks' }),
    ];
    return both.every(({ webhooks }) =>
      webhooks?.every(({ clientConfig }) => clientConfig.caBundle !== undefined),
    );
  });
  await untilAnswers();
});
after(async () => {
  await program?.stop();
  client.close();
  await server.stop();
  await rm(directory, { recursive: true });
});

/** Without an answer everything is accepted: only a refusal shows that it was asked. */
const untilAnswers = () =>
  until('the webhook to refuse what it must', async () => {
    const probe = aController({ configFileRefs: [{ name: 'missing' }] }, { name: 'probe' });
    const { status, message } = await create('controllers', probe);
    if (status === 201) await client.delete(controllers, { namespace, name: 'probe' });
    return status === 403 && message.includes('ConfigMap "missing" does not exist');
  });

const at = (plural: string) => `/apis/slinky.slurm.net/v1beta1/namespaces/${namespace}/${plural}`;
const create = (plural: string, { apiVersion, kind, metadata, spec }: Manifest) =>
  sendManifest(client, 'POST', at(plural), { apiVersion, kind, metadata: { name: metadata.name }, spec });
const change = (plural: string, name: string, body: object) =>
  sendManifest(client, 'PATCH', `${at(plural)}/${name}`, body);

const put = async (name: string, data: Record<string, string>) => {
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data,
  });
};

test('a file that is ours is refused, one that Slurm does not know is warned of, one that is missing is named', async () => {
  await put('good', { 'gres.conf': '', 'topology.yaml': '' });
  await put('odd', { 'grs.conf': '' });
  await put('ours', { 'slurm.conf': '' });
  const made = await create(
    'controllers',
    aController({ configFileRefs: [{ name: 'good' }] }, { name: 'a' }),
  );
  assert.deepEqual(made, { status: 201, message: '', warnings: [] });
  const odd = await create('controllers', aController({ configFileRefs: [{ name: 'odd' }] }, { name: 'b' }));
  assert.equal(odd.status, 201);
  assert.match(odd.warnings.join(), /spec\.configFileRefs\[0\]: Slurm is not known to read .*grs\.conf/);
  const refused = await create(
    'controllers',
    aController({ configFileRefs: [{ name: 'good' }, { name: 'ours' }] }, { name: 'c' }),
  );
  assert.equal(refused.status, 403);
  assert.match(
    refused.message,
    /spec\.configFileRefs\[1\]: key "slurm\.conf" of ConfigMap "ours" is reserved for slurm-operator use; put the settings into spec\.extraConf/,
  );
  const missing = await change('controllers', 'a', { spec: { configFileRefs: [{ name: 'nowhere' }] } });
  assert.equal(missing.status, 403);
  assert.match(missing.message, /ConfigMap "nowhere" does not exist in this namespace; create it first/);
});

test('does not validate changes of labels and finalizers, nor an object that is being deleted', async () => {
  await client.delete(configMaps, { namespace, name: 'good' });
  assert.equal((await change('controllers', 'a', { metadata: { labels: { x: 'y' } } })).status, 200);
  assert.equal(
    (await change('controllers', 'a', { spec: { extraConf: 'x=y' } })).status,
    403,
    'a new spec is',
  );
  assert.equal(
    (await change('controllers', 'a', { metadata: { finalizers: ['example.org/x'] } })).status,
    200,
  );
  await client.delete(controllers, { namespace, name: 'a' });
  assert.equal((await change('controllers', 'a', { metadata: { finalizers: null } })).status, 200);
  assert.equal(await client.find(controllers, { namespace, name: 'a' }), undefined);
});

test('standby controllers need a claim that all of them can mount', async () => {
  const claim = (name: string, mode: string) =>
    client.create(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace },
      spec: { accessModes: [mode], resources: { requests: { storage: '1Gi' } } },
    } as never);
  await claim('single', 'ReadWriteOnce');
  await claim('shared', 'ReadWriteMany');
  const ha = (name: string, existingClaim: string) =>
    create(
      'controllers',
      aController({ ha: { enabled: true }, persistence: { enabled: true, existingClaim } }, { name }),
    );
  const refused = await ha('ha-single', 'single');
  assert.equal(refused.status, 403);
  assert.match(refused.message, /claim "single" has the access modes ReadWriteOnce; .* needs ReadWriteMany/);
  assert.equal((await ha('ha-shared', 'shared')).status, 201);
  assert.equal((await ha('ha-later', 'not-yet')).status, 201, 'a claim may come later');
});

test('addresses of nodes are ignored, and said to be; a Controller that is not there yet too', async () => {
  const service = { spec: { externalIPs: ['192.0.2.1'] } };
  for (const [plural, object] of [
    ['controllers', aController({ service }, { name: 'open' })],
    ['restapis', aRestApi({ service, controllerRef: { name: 'open' } }, { name: 'open' })],
    ['loginsets', aLoginSet({ service, controllerRef: { name: 'open' } }, { name: 'open' })],
  ] as const) {
    const { status, warnings } = await create(plural, object);
    assert.equal(status, 201);
    assert.equal(warnings.length, 1, warnings.join());
    assert.match(warnings[0] ?? '', /externalIPs is ignored/);
  }
  const early = await create(
    'nodesets',
    aNodeSet({ controllerRef: { name: 'tomorrow' } }, { name: 'early' }),
  );
  assert.equal(early.status, 201);
  assert.match(
    early.warnings.join(),
    /spec\.controllerRef\.name is .*tomorrow.*; no such Controller exists in namespace hpc: create it/,
  );
});

test('two NodeSets of one cluster cannot have nodes of the same names', async () => {
  const set = (name: string, hostname: string | undefined, controller = 'open') =>
    create(
      'nodesets',
      aNodeSet(
        {
          controllerRef: { name: controller },
          ...(hostname === undefined ? {} : { template: { spec: { hostname } } }),
        },
        { name },
      ),
    );
  assert.equal((await set('gpu', undefined)).status, 201);
  const twin = await set('fast', 'gpu-');
  assert.equal(twin.status, 403);
  assert.match(twin.message, /the Slurm nodes of NodeSet "gpu" also begin with "gpu-"/);
  assert.equal((await set('fast', 'gpu-', 'other')).status, 201, 'another cluster has names of its own');
  assert.equal((await change('nodesets', 'gpu', { spec: { replicas: 3 } })).status, 200, 'not its own twin');
});

const pod = (name: string, labels: Record<string, string>) =>
  client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  } as never);

const bind = (name: string, machine: string) =>
  sendManifest(client, 'POST', `/api/v1/namespaces/${namespace}/pods/${name}/binding`, {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name },
    target: { apiVersion: 'v1', kind: 'Node', name: machine },
  });

const topologyOf = async (name: string) =>
  (await client.get(pods, { namespace, name })).metadata.annotations?.[annotation.topology];

test('a worker that is bound learns the topology of its machine; no other pod does', async () => {
  const topology = 'topo-switch:s2,topo-block:b2';
  await client.create(nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'm', annotations: { [annotation.topology]: topology } },
  });
  await pod('worker', { [label.name]: 'slurmd' });
  await pod('unrelated', { [label.name]: 'nginx' });
  assert.equal((await bind('worker', 'm')).status, 201);
  assert.equal(await topologyOf('worker'), topology);
  assert.equal((await bind('unrelated', 'm')).status, 201);
  assert.equal(await topologyOf('unrelated'), undefined);
});

test('a worker is bound even if its machine cannot be read', async () => {
  await pod('lost', { [label.name]: 'slurmd' });
  assert.equal((await bind('lost', 'unknown-machine')).status, 201);
});

test('on a cordoned node it asks whether it is the last replica', async () => {
  await client.mergePatch(nodes, { name: 'm' }, { spec: { unschedulable: true } });
  await program?.stop();
  start(...own);
  await until('it lists the pods of its own namespace', () =>
    Promise.resolve(used(server.audit.find(), account).includes('list pods')),
  );
});

test('the certificate is the Secret’s, and comes back when a user deletes it', async () => {
  const first = await client.get(secrets, { namespace: 'slinky', name: 'hook-certs' });
  assert.deepEqual(Object.keys(first.data ?? {}).toSorted(), ['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
  await program?.stop();
  await client.delete(secrets, { namespace: 'slinky', name: 'hook-certs' });
  start(...own);
  await untilAnswers();
  const second = await client.get(secrets, { namespace: 'slinky', name: 'hook-certs' });
  assert.notEqual(second.data?.['ca.crt'], first.data?.['ca.crt']);
});

test('a certificate of others, from files; objects of other namespaces are admitted unseen', async () => {
  await program?.stop();
  const pair = await server.certificateFor(['hook.slinky.svc']);
  const certificates = await mkdtemp(join(directory, 'certs-'));
  await writeFile(join(certificates, 'tls.crt'), pair.certificatePem);
  await writeFile(join(certificates, 'tls.key'), pair.keyPem);
  const caBundle = Buffer.from(server.caPem).toString('base64');
  const { webhooks } = patientConfiguration(place);
  await client.mergePatch(
    validatingWebhookConfigurations,
    { name: 'hooks' },
    {
      webhooks: webhooks.map((hook) => ({ ...hook, clientConfig: { ...hook.clientConfig, caBundle } })),
    },
  );
  start(`--cert-dir=${certificates}`);
  await untilAnswers();
  await program?.stop();
  start(`--cert-dir=${certificates}`, '--namespaces=elsewhere');
  const unseen = aController({ configFileRefs: [{ name: 'gone' }] }, { name: 'unseen' });
  assert.equal((await create('controllers', unseen)).status, 201);
});

test('with the webhook away pods are bound as before, and objects of ours can still go', async () => {
  await program?.stop();
  await pod('after', { [label.name]: 'slurmd' });
  assert.equal((await bind('after', 'm')).status, 201, 'it is ignored');
  const unchecked = aController({ configFileRefs: [{ name: 'gone' }] }, { name: 'unchecked' });
  assert.equal((await create('controllers', unchecked)).status, 201, 'the controllers apply the same rules');
  assert.equal(
    (await change('nodesets', 'gpu', { metadata: { finalizers: ['example.org/x'] } })).status,
    200,
  );
  await client.delete(nodeSets, { namespace, name: 'gpu' });
  assert.equal((await change('nodesets', 'gpu', { metadata: { finalizers: null } })).status, 200);
  assert.equal(await client.find(nodeSets, { namespace, name: 'gpu' }), undefined);
});

test('of all permissions none was missing, and none was not used', () => {
  assert.deepEqual(refusals(server, account), []);
  const does = new Set(used(server.audit.find(), account));
  assert.deepEqual(
    [...granted([...everywhere, ...atHome])].filter((one) => !does.has(one)),
    // A certificate is renewed after weeks.
    ['update secrets'],
  );
});
