/** What the values of the chart slurm mean. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before as beforeAll, test } from 'node:test';
import { parse } from 'yaml';
import { chart, type Manifest } from './src/index.ts';
import { type Any, ChartStage, none, one } from './testing/chart-stage.ts';
import { slurmMatrix } from './testing/matrix.ts';

let stage: ChartStage;
beforeAll(async () => {
  stage = await ChartStage.open();
});
after(() => stage?.[Symbol.asyncDispose]());

const notes = (values: object) => stage.helm.notes('slurm', chart('slurm'), values, ['--namespace', 'slurm']);

test('images: the registry in front of those without a host, strings and digests as given', async () => {
  const registry = { registry: 'registry.example.com/hpc/' };
  const image = (manifests: readonly Manifest[]) =>
    one(manifests, 'Controller').spec.slurmctld.image as string;
  assert.equal(image(await stage.slurm({})), 'slurm-operator/slurmctld:26.05');
  assert.equal(image(await stage.slurm(registry)), 'registry.example.com/hpc/slurm-operator/slurmctld:26.05');
  const own = {
    ...registry,
    controller: { slurmctld: { image: { repository: 'other.example/x', tag: 25.1 } } },
  };
  assert.equal(image(await stage.slurm(own)), 'other.example/x:25.1');
  const digest = { controller: { slurmctld: { image: { digest: `sha256:${'a'.repeat(64)}` } } } };
  assert.equal(image(await stage.slurm(digest)), `slurm-operator/slurmctld@sha256:${'a'.repeat(64)}`);
  const deployment = one(await stage.operator(registry), 'Deployment', 'slurm-operator');
  const [container] = deployment.spec.template.spec.containers;
  assert.equal(container.image, 'registry.example.com/hpc/slurm-operator/operator:0.1.0');
  assert.ok(container.args.includes('--image-repository=registry.example.com/hpc/slurm-operator'));
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
  'a key to create although create is false': [
    { slurmKeyRef: {}, slurmKey: { create: false } },
    [/slurmKeyRef/, /slurmKey\.create/],
  ],
  'limits that are disabled': [
    { nodesets: { a: { useResourceLimits: false, slurmd: { resources: { limits: { cpu: 1 } } } } } },
    [/nodesets\.a\.useResourceLimits/, /nodesets\.a\.slurmd\.resources\.limits/],
  ],
  'a partition of a node set that is not there': [
    { partitions: { p: { enabled: true, nodesets: ['nowhere'] } }, nodesets: { a: {} } },
    [/partitions\.p\.nodesets/, /"nowhere"/, /enabled node sets: a/],
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
    const words = await stage.helm.refusal('slurm', chart('slurm'), values);
    for (const part of said) assert.match(words, part);
  });

test('Slurm settings: lists, booleans, zero and false are written as Slurm reads them', async () => {
  const manifests = await stage.slurm(slurmMatrix['everything at once'] ?? {});
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
  const manifests = (await stage.slurm(values)).filter(
    ({ apiVersion, kind }) =>
      apiVersion.startsWith('slinky.') && !['QualityOfService', 'Account'].includes(kind), // have no pods
  );
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

test('access to slurmrestd: off by default, and the operator and its dashboard are always let in', async () => {
  none(await stage.slurm({}), 'NetworkPolicy');
  none(await stage.slurm({}), 'Ingress');
  const policy = one(await stage.slurm({ restapi: { networkPolicy: { enabled: true } } }), 'NetworkPolicy');
  const [{ from, ports }] = policy.spec.ingress;
  assert.deepEqual(ports, [{ port: 6820, protocol: 'TCP' }]);
  assert.deepEqual(from[0], {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'slinky' } },
    podSelector: {
      matchExpressions: [
        {
          key: 'app.kubernetes.io/name',
          operator: 'In',
          values: ['slurm-operator', 'slurm-operator-dashboard'],
        },
      ],
    },
  });
  const manifests = await stage.operator({
    operator: { tokenExchange: { enabled: true } },
    dashboard: { enabled: true },
  });
  for (const name of ['slurm-operator', 'slurm-operator-dashboard']) {
    const { metadata } = one(manifests, 'Deployment', name).spec.template;
    assert.equal(metadata.labels['app.kubernetes.io/name'], name, 'the label that the policy lets in');
  }
});

test('another port of the Service of slurmrestd is that of an Ingress, and not that of a policy, which pods are behind', async () => {
  const restapi = {
    service: { port: 80 },
    networkPolicy: { enabled: true },
    ingress: { enabled: true, host: 'slurm.example.com' },
  };
  const manifests = await stage.slurm({ restapi });
  assert.deepEqual(one(manifests, 'NetworkPolicy').spec.ingress[0].ports, [{ port: 6820, protocol: 'TCP' }]);
  const [{ backend }] = one(manifests, 'Ingress').spec.rules[0].http.paths;
  assert.deepEqual(backend.service.port, { number: 80 });
});

test('GPUs are made known to the exporter only where there are some', async () => {
  const manifests = await stage.slurm(slurmMatrix['everything at once'] ?? {});
  const volumes = (name: string) => one(manifests, 'NodeSet', name).spec.template.spec.volumes ?? [];
  assert.equal(volumes('slurm-worker-gpu')[0].hostPath.path, '/var/lib/dcgm-exporter/job-mapping');
  assert.deepEqual(volumes('slurm-worker-cpu'), []);
  const script: string = one(manifests, 'ConfigMap', 'slurm-prolog-dcgm').data['prolog-90-dcgm.sh'];
  assert.ok(script.startsWith('#!/bin/sh\n'));
  const refs = one(manifests, 'Controller').spec.prologScriptRefs.map((ref: { name: string }) => ref.name);
  assert.deepEqual(refs, ['slurm-prolog-scripts', 'slurm-prolog-dcgm', 'more']);
});

test('the notes name the next step and the REST version that the image serves', async () => {
  assert.match(await notes({}), /get slurm[\s\S]*v0\.0\.45/);
  assert.match(await notes({}), /no workers yet/);
  const old = { restapi: { slurmrestd: { image: { tag: '24.11' } } }, nodesets: { a: {} } };
  assert.match(await notes(old), /slurm\/v0\.0\.42\/ping/);
  assert.doesNotMatch(await notes(old), /no workers yet/);
  // The Cluster may be Ready before there is a partition: a job that is submitted then is refused.
  assert.match(
    await notes(old),
    /wait .*controller\S+\/slurm nodeset\.slinky\.slurm\.net\/slurm-worker-a &&\n/,
  );
  assert.match(
    await notes({ restapi: { slurmrestd: { image: 'x.example/y:odd' } } }),
    /versions that its image supports/,
  );
});

test('a block whose lines are all commented out means its default', async () => {
  const sets = (nodeset: object, loginset: object) => ({
    nodesets: { a: nodeset },
    loginsets: { l: loginset },
    accounting: { enabled: true },
  });
  const render = (values: object) => stage.helm.template('slurm', chart('slurm'), values);
  const blank = (...keys: string[]) => Object.fromEntries(keys.map((key) => [key, null]));
  const expected = await render(sets({}, {}));
  const nodeset = blank('slurmd', 'logfile', 'partition', 'ssh', 'metadata', 'podSpec', 'updateStrategy');
  const loginset = blank('login', 'initconf', 'metadata', 'podSpec', 'service');
  assert.deepEqual(await render(sets(nodeset, loginset)), expected);
  const empty = {
    controller: blank('logfile', 'reconfigure'),
    prologScriptRefs: null,
    epilogSlurmctldScriptRefs: null,
  };
  assert.deepEqual(await render({ ...sets({}, {}), ...empty }), expected);
});

/** Maps of Kubernetes, in which null takes a default away. */
const openMaps = new Set(['podSpec', 'podSecurityContext', 'securityContext', 'resources']);

/** The values with null for each block, list and boolean at one depth. */
function blankAt(depth: number, values: object): Any {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => {
      if (depth === 1) return typeof value === 'object' || typeof value === 'boolean' ? [[key, null]] : [];
      if (typeof value !== 'object' || value === null || Array.isArray(value) || openMaps.has(key)) return [];
      return [[key, blankAt(depth - 1, value)]];
    }),
  );
}

for (const name of ['slurm', 'slurm-operator'] as const)
  test(`${name}: null for a block, list or boolean means its default, at every level`, async () => {
    // Helm itself reads crds.enabled, before any template.
    const { crds: _, ...defaults } = parse(await readFile(join(chart(name), 'values.yaml'), 'utf8'));
    const expected = await stage.helm.template(name, chart(name), {});
    for (const depth of [1, 2, 3, 4, 5])
      assert.deepEqual(
        await stage.helm.template(name, chart(name), blankAt(depth, defaults)),
        expected,
        `depth ${depth}`,
      );
  });

test('values that cannot be names, or are of another type than the chart reads, are refused by their path', async () => {
  const broken = 'a: {{ b }}\n- "c';
  const said = await stage.helm.refusal('slurm', chart('slurm'), {
    nameOverride: broken,
    clusterName: broken,
    slurmKey: { secretRef: { name: broken } },
    controller: { persistence: { existingClaim: broken }, podSpec: { imagePullSecrets: 'a' } },
    restapi: { pdb: { minAvailable: broken } },
    nodesets: { a: { slurmd: { resources: { limits: 'a' } } } },
  });
  for (const path of [
    '/nameOverride',
    '/clusterName',
    '/slurmKey/secretRef/name',
    '/controller/persistence/existingClaim',
    '/controller/podSpec/imagePullSecrets',
    '/restapi/pdb/minAvailable',
    '/nodesets/a/slurmd/resources/limits',
  ])
    assert.ok(said.includes(`at '${path}'`), `${path} in ${said}`);
});
