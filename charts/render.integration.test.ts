/** What the charts make of values: the same every time, what was asked for, and acceptable to an API server. */
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before as beforeAll, test } from 'node:test';
import { customResourceDefinition, kinds } from '@slurm-operator/api';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  kubeconfigConfig,
  namespaces,
  secrets,
} from '@slurm-operator/kube';
import { chart, Helm, type Manifest } from './src/index.ts';
import { operatorMatrix, slurmMatrix } from './testing/matrix.ts';

let helm: Helm;
let server: ApiServer;
let client: Client;

const directory = mkdtempSync(join(tmpdir(), 'charts-'));
beforeAll(async () => {
  server = await startApiServer();
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig());
  helm = await Helm.open({ progress: console.log, kubeconfig });
  client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), {
    userAgent: 'test',
    rateLimit: false,
  });
  for (const kind of kinds)
    await client.create(customResourceDefinitions, customResourceDefinition(kind) as never);
  for (const name of ['slurm', 'slinky', 'team-a', 'team-b'])
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
});
after(async () => {
  await helm?.[Symbol.asyncDispose]();
  client?.close();
  await server?.stop();
  await rm(directory, { recursive: true });
});

const slurm = (values: object, release = 'slurm') =>
  helm.template(release, chart('slurm'), values, ['--namespace', 'slurm']);
const operator = (values: object) =>
  helm.template('slurm-operator', chart('slurm-operator'), values, ['--namespace', 'slinky']);
const notes = (values: object) => helm.notes('slurm', chart('slurm'), values, ['--namespace', 'slurm']);

// Tests read any field of any kind.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;
const one = (manifests: readonly Manifest[], kind: string, name?: string): Any => {
  const found = manifests.filter(
    (each) => each.kind === kind && (name === undefined || each.metadata.name === name),
  );
  assert.equal(
    found.length,
    1,
    `one ${kind} ${name ?? ''} among ${manifests.map((each) => `${each.kind} ${each.metadata.name}`).join(', ')}`,
  );
  return found[0];
};
const none = (manifests: readonly Manifest[], kind: string) =>
  assert.deepEqual(
    manifests.filter((each) => each.kind === kind),
    [],
  );

async function accepted(manifests: readonly Manifest[], namespace: string): Promise<void> {
  assert.ok(manifests.length > 0);
  for (const manifest of manifests) {
    const { kind, metadata } = manifest;
    const resource = await resourceOf(manifest);
    const place = resource.namespaced ? `/namespaces/${metadata.namespace ?? namespace}` : '';
    const base = manifest.apiVersion.includes('/')
      ? `/apis/${manifest.apiVersion}`
      : `/api/${manifest.apiVersion}`;
    // Strict: a field that the API server does not know is an error.
    await client
      .json('POST', `${base}${place}/${resource.plural}?dryRun=All&fieldValidation=Strict`, {
        body: manifest,
        timeout: 10_000,
      })
      .catch((error: unknown) => {
        throw new Error(`${kind} ${metadata.name} is refused`, { cause: error });
      });
  }
}

const discovered = new Map<string, { plural: string; namespaced: boolean }>();
async function resourceOf({ apiVersion, kind }: Manifest): Promise<{ plural: string; namespaced: boolean }> {
  const known = discovered.get(`${apiVersion}/${kind}`);
  if (known !== undefined) return known;
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { resources } = await client.json<{
    resources: { name: string; kind: string; namespaced: boolean }[];
  }>('GET', base, { timeout: 10_000 });
  const found = resources.find((each) => each.kind === kind && !each.name.includes('/'));
  assert.ok(found, `the API server knows ${apiVersion} ${kind}`);
  const resource = { plural: found.name, namespaced: found.namespaced };
  discovered.set(`${apiVersion}/${kind}`, resource);
  return resource;
}

for (const [name, values] of Object.entries(slurmMatrix))
  test(`slurm with ${name}: accepted by the API server, and the same when rendered again`, async () => {
    const manifests = await slurm(values);
    assert.deepEqual(await slurm(values), manifests);
    await accepted(manifests, 'slurm');
  });

for (const [name, values] of Object.entries(operatorMatrix))
  test(`slurm-operator with ${name}: accepted by the API server`, async () => {
    const manifests = await operator(values);
    await accepted(
      manifests.filter(({ kind }) => kind !== 'CustomResourceDefinition'),
      'slinky',
    );
  });

test('lint finds nothing wrong with the charts', async () => {
  for (const name of ['slurm-operator-crds', 'slurm-operator', 'slurm'] as const)
    await helm.run(['lint', '--strict', chart(name)]);
});

test('a new version of the chart alone changes nothing but labels that pods do not get', async () => {
  const next = join(directory, 'next');
  await cp(chart('slurm'), next, { recursive: true });
  const description = await readFile(join(next, 'Chart.yaml'), 'utf8');
  await writeFile(
    join(next, 'Chart.yaml'),
    description
      .replace(/^version: .*$/m, 'version: 9.9.9')
      .replace(/^appVersion: .*$/m, 'appVersion: "99.99"'),
  );
  const values = slurmMatrix['everything at once'] ?? {};
  const upgraded = await helm.template('slurm', next, values, ['--namespace', 'slurm']);
  assert.match(JSON.stringify(upgraded), /slurm-9\.9\.9/);
  const plain = (manifests: readonly Manifest[]) =>
    manifests.map((manifest) => {
      const {
        'helm.sh/chart': _chart,
        'app.kubernetes.io/version': _version,
        ...labels
      } = manifest.metadata.labels ?? {};
      return { ...manifest, metadata: { ...manifest.metadata, labels } };
    });
  assert.deepEqual(plain(upgraded), plain(await slurm(values)));
});

test('images: the registry in front of those without a host, strings and digests as given', async () => {
  const registry = { registry: 'registry.example.com/hpc/' };
  const image = (manifests: readonly Manifest[]) =>
    one(manifests, 'Controller').spec.slurmctld.image as string;
  assert.equal(image(await slurm({})), 'slurm-operator/slurmctld:26.05');
  assert.equal(image(await slurm(registry)), 'registry.example.com/hpc/slurm-operator/slurmctld:26.05');
  const own = {
    ...registry,
    controller: { slurmctld: { image: { repository: 'other.example/x', tag: 25.1 } } },
  };
  assert.equal(image(await slurm(own)), 'other.example/x:25.1');
  const digest = { controller: { slurmctld: { image: { digest: `sha256:${'a'.repeat(64)}` } } } };
  assert.equal(image(await slurm(digest)), `slurm-operator/slurmctld@sha256:${'a'.repeat(64)}`);
  const deployment = one(await operator(registry), 'Deployment', 'slurm-operator');
  const [container] = deployment.spec.template.spec.containers;
  assert.equal(container.image, 'registry.example.com/hpc/slurm-operator/operator:0.1.0');
  assert.ok(container.args.includes('--image-repository=registry.example.com/hpc/slurm-operator'));
});

test('keys: asked for by annotation, never drawn; old spellings keep the old names', async () => {
  const asked = (manifests: readonly Manifest[]) => {
    const { metadata, spec } = one(manifests, 'Controller');
    return {
      annotations: metadata.annotations,
      slurm: spec.slurmKeyRef,
      jwt: spec.jwtKeyRef,
      hs256: spec.jwtHs256KeyRef,
    };
  };
  const manifests = await slurm({});
  none(manifests, 'Secret');
  assert.deepEqual(asked(manifests), {
    annotations: { 'slinky.slurm.net/generate-slurm-key': '{}', 'slinky.slurm.net/generate-jwt-key': '{}' },
    slurm: { name: 'slurm-auth-slurm', key: 'slurm.key' },
    jwt: { name: 'slurm-auth-jwt', key: 'jwt.key' },
    hs256: undefined,
  });
  const old = asked(await slurm({ slurmKeyRef: {}, jwtHs256KeyRef: {} }));
  assert.deepEqual(old.hs256, { name: 'slurm-auth-jwths256', key: 'jwt_hs256.key' });
  assert.equal(Object.keys(old.annotations).length, 2);
  const named = asked(await slurm(slurmMatrix['old spellings that name keys'] ?? {}));
  assert.deepEqual(
    [named.slurm, named.hs256, named.annotations],
    [{ name: 'mine', key: 'k' }, { name: 'mine', key: 'j' }, undefined],
  );
});

test('a JWT key that an older release made is adopted where helm can look, and asked for by its old spelling elsewhere', async () => {
  const name = 'old-auth-jwths256';
  const data = { 'jwt_hs256.key': Buffer.alloc(32).toString('base64') };
  await client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'slurm' },
    data,
  });
  const values = await helm.file({ fullnameOverride: 'old' });
  const { stdout } = await helm.run([
    'install',
    'old',
    chart('slurm'),
    '--namespace=slurm',
    `--values=${values}`,
    '--dry-run=server',
  ]);
  assert.match(stdout, /jwtHs256KeyRef:\n    name: old-auth-jwths256\n    key: jwt_hs256\.key/);
  assert.doesNotMatch(stdout, /jwtKeyRef:/);
  const found = await client.get(secrets, { namespace: 'slurm', name });
  assert.deepEqual(found.data, data, 'and left as it is');
});

test('a key that a Controller uses stays in use, whatever else there is', async () => {
  const metadata = { name: 'live', namespace: 'slurm' };
  for (const name of ['live-auth-jwths256', 'mine'])
    await client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name } });
  const spec = { slurmKeyRef: { name: 'mine', key: 's' }, jwtKeyRef: { name: 'mine', key: 'j' } };
  const object = { apiVersion: 'slinky.slurm.net/v1beta1', kind: 'Controller', metadata, spec };
  await client.json('POST', '/apis/slinky.slurm.net/v1beta1/namespaces/slurm/controllers', {
    body: object,
    timeout: 10_000,
  });
  const values = await helm.file({ fullnameOverride: 'live' });
  const { stdout } = await helm.run([
    'install',
    'other',
    chart('slurm'),
    '--namespace=slurm',
    `--values=${values}`,
    '--dry-run=server',
    '--take-ownership',
  ]);
  assert.match(stdout, /jwtKeyRef:\n    name: mine\n    key: j\n/);
});

test('with cert-manager the certificate comes from there, and the webhook may touch nothing of it', async () => {
  const manifests = await operator({ certManager: { enabled: true } });
  assert.equal(one(manifests, 'Certificate').spec.secretName, 'slurm-operator-webhook-ca');
  const webhook = one(manifests, 'Deployment', 'slurm-operator-webhook').spec.template.spec;
  assert.ok(webhook.containers[0].args.includes('--cert-dir=/certificates'));
  assert.equal(webhook.volumes[0].secret.secretName, 'slurm-operator-webhook-ca');
  const rules = manifests
    .filter(({ kind }) => kind.endsWith('Role'))
    .flatMap((role) => (role as Any).rules as Any[]);
  assert.ok(!rules.some((rule) => rule.apiGroups?.includes('admissionregistration.k8s.io')));
  const own = await operator({});
  const granted = own
    .filter(({ kind }) => kind === 'ClusterRole')
    .flatMap((role) => (role as Any).rules as Any[]);
  const hooks = granted.filter((rule) => rule.apiGroups?.includes('admissionregistration.k8s.io'));
  assert.deepEqual(new Set(hooks.flatMap((rule) => rule.resourceNames)), new Set(['slurm-operator-webhook']));
});

const conflicts: Readonly<Record<string, readonly [object, readonly RegExp[]]>> = {
  'both spellings of the Slurm key': [
    { slurmKeyRef: { name: 'a', key: 'k' }, slurmKey: { secretRef: { name: 'b', key: 'k' } } },
    [/slurmKeyRef/, /slurmKey\.secretRef/],
  ],
  'both spellings of the JWT key': [
    { jwtHs256KeyRef: { name: 'a', key: 'k' }, jwtKey: { secretRef: { name: 'b', key: 'k' } } },
    [/jwtHs256KeyRef/, /jwtKey\.secretRef/],
  ],
  'a key that shall be made and shall not': [
    { slurmKeyRef: {}, slurmKey: { create: false } },
    [/slurmKeyRef/, /slurmKey\.create/],
  ],
  'config and configMap of a partition': [
    { nodesets: { a: { partition: { enabled: true, config: 'State=UP', configMap: { State: 'UP' } } } } },
    [/nodesets\.a\.partition\.config /, /nodesets\.a\.partition\.configMap/],
  ],
  'limits that shall not count': [
    { nodesets: { a: { useResourceLimits: false, slurmd: { resources: { limits: { cpu: 1 } } } } } },
    [/nodesets\.a\.useResourceLimits/, /nodesets\.a\.slurmd\.resources\.limits/],
  ],
  'a partition of a node set that is not there': [
    { partitions: { p: { enabled: true, nodesets: ['nowhere'] } }, nodesets: { a: {} } },
    [/partitions\.p\.nodesets/, /"nowhere"/, /there is a/],
  ],
  'a partition of nothing': [
    { partitions: { p: { enabled: true, nodesets: [] } } },
    [/partitions\.p\.nodesets is empty/],
  ],
  'a file that is ours': [{ configFiles: { 'slurm.conf': '' } }, [/configFiles/, /slurm\.conf/]],
  'an image without a tag': [
    { controller: { slurmctld: { image: { repository: 'x', tag: '' } } } },
    [/controller\.slurmctld\.image/, /tag/],
  ],
  'a digest that is none': [
    { restapi: { slurmrestd: { image: { digest: 'abc' } } } },
    [/restapi\.slurmrestd\.image\.digest/, /"abc"/],
  ],
  'an Ingress without a host': [{ restapi: { ingress: { enabled: true } } }, [/restapi\.ingress\.host/]],
  'hardware of another maker': [{ vendor: { google: { a3mega: [{}] } } }, [/vendor\.google/, /podSpec/]],
};
for (const [name, [values, said]] of Object.entries(conflicts))
  test(`refused: ${name}, and the message names what is meant`, async () => {
    const words = await helm.refusal('slurm', chart('slurm'), values);
    for (const part of said) assert.match(words, part);
  });

test('Slurm settings: lists, booleans, zero and false are written as Slurm reads them', async () => {
  const manifests = await slurm(slurmMatrix['everything at once'] ?? {});
  const { extraConf } = one(manifests, 'Controller').spec;
  assert.equal(
    extraConf.trim(),
    [
      'Licenses=0',
      'MaxJobCount=50000',
      'PreemptMode=OFF',
      'SchedulerParameters=a=1,b',
      'PartitionName=all Nodes=ALL Default=YES MaxTime=UNLIMITED',
      'PartitionName=some Nodes=cpu,gpu MaxTime=60',
    ].join('\n'),
  );
  const cpu = one(manifests, 'NodeSet', 'slurm-worker-cpu').spec;
  assert.equal(cpu.partition.config, 'Default=NO MaxTime=UNLIMITED State=UP');
  assert.equal(cpu.extraConf, 'Features=a,b Weight=10');
  assert.equal(cpu.template.spec.hostname, 'cpu-');
  assert.equal(one(manifests, 'Accounting').spec.extraConf.trim(), 'ArchiveJobs=YES');
});

test('pull secrets and priority reach every kind of pod', async () => {
  const values = {
    ...slurmMatrix['everything at once'],
    imagePullSecrets: ['pull'],
  };
  const manifests = (await slurm(values)).filter(({ apiVersion }) => apiVersion.startsWith('slinky.'));
  assert.deepEqual([...new Set(manifests.map(({ kind }) => kind))].toSorted(), [
    'Accounting',
    'Controller',
    'LoginSet',
    'NodeSet',
    'RestApi',
  ]);
  for (const { kind, spec } of manifests as Any[]) {
    assert.deepEqual(spec.template.spec.imagePullSecrets, [{ name: 'pull' }], kind);
    assert.equal(spec.template.spec.priorityClassName, 'slurm-system-critical', kind);
  }
});

test('access to slurmrestd: off by default, and the operator is always let in', async () => {
  none(await slurm({}), 'NetworkPolicy');
  none(await slurm({}), 'Ingress');
  const policy = one(await slurm({ restapi: { networkPolicy: { enabled: true } } }), 'NetworkPolicy');
  const [{ from, ports }] = policy.spec.ingress;
  assert.deepEqual(ports, [{ port: 6820, protocol: 'TCP' }]);
  assert.deepEqual(from[0], {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'slinky' } },
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'slurm-operator' } },
  });
  const { metadata } = one(await operator({}), 'Deployment', 'slurm-operator').spec.template;
  assert.equal(
    metadata.labels['app.kubernetes.io/name'],
    'slurm-operator',
    'the label that the policy lets in',
  );
});

test('GPUs are made known to the exporter only where there are some', async () => {
  const manifests = await slurm(slurmMatrix['everything at once'] ?? {});
  const volumes = (name: string) => one(manifests, 'NodeSet', name).spec.template.spec.volumes ?? [];
  assert.equal(volumes('slurm-worker-gpu')[0].hostPath.path, '/var/lib/dcgm-exporter/job-mapping');
  assert.deepEqual(volumes('slurm-worker-cpu'), []);
  const script: string = one(manifests, 'ConfigMap', 'slurm-prolog-dcgm').data['prolog-90-dcgm.sh'];
  assert.ok(script.startsWith('#!/bin/sh\n'));
  const refs = one(manifests, 'Controller').spec.prologScriptRefs.map((ref: { name: string }) => ref.name);
  assert.deepEqual(refs, ['slurm-prolog-scripts', 'slurm-prolog-dcgm', 'more']);
});

test('rights: in some namespaces only, nothing cluster-wide but what has no namespace', async () => {
  const all = await operator({});
  const rules = (manifests: readonly Manifest[], kind: string, name: string): Any[] =>
    one(manifests, kind, name).rules;
  const touches = (list: Any[], resource: string) => list.some((rule) => rule.resources?.includes(resource));
  assert.ok(touches(rules(all, 'ClusterRole', 'slinky-slurm-operator'), 'secrets'));
  const some = await operator({
    operator: { namespaces: 'team-a, team-b' },
    webhook: { namespaces: 'team-a' },
  });
  assert.ok(!touches(rules(some, 'ClusterRole', 'slinky-slurm-operator'), 'secrets'));
  const roles = some.filter(
    ({ kind, metadata }) => kind === 'Role' && metadata.name === 'slurm-operator',
  ) as Any[];
  assert.deepEqual(
    roles.map(({ metadata }) => metadata.namespace),
    ['team-a', 'team-b'],
  );
  for (const role of roles) assert.ok(touches(role.rules, 'secrets'));
  const args = one(some, 'Deployment', 'slurm-operator').spec.template.spec.containers[0].args;
  assert.ok(args.includes('--namespaces=team-a,team-b'));
  none(
    await operator({
      operator: { serviceAccount: { create: false } },
      webhook: { serviceAccount: { create: false } },
    }),
    'ClusterRole',
  );
});

test('the notes name the next step and the REST version that the image serves', async () => {
  assert.match(await notes({}), /get slurm[\s\S]*v0\.0\.45/);
  assert.match(await notes({}), /no workers yet/);
  const old = { restapi: { slurmrestd: { image: { tag: '24.11' } } }, nodesets: { a: {} } };
  assert.match(await notes(old), /slurm\/v0\.0\.42\/ping/);
  assert.doesNotMatch(await notes(old), /no workers yet/);
  assert.match(
    await notes({ restapi: { slurmrestd: { image: 'x.example/y:odd' } } }),
    /versions that its image brings/,
  );
});
