import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aController, aNodeSet, operatorDefaults } from '../../../testing/objects.ts';
import { buildTrialPod } from './config-check.ts';
import {
  buildTrialWorker,
  distinctTrialWorkers,
  partOnNode,
  type TrialPart,
  type TrialWorker,
  trialParts,
} from './trial-worker.ts';

const gpu = aNodeSet(
  {
    slurmd: {
      image: 'slurmd:1',
      imagePullPolicy: 'Always',
      env: [{ name: 'A', value: '1' }],
      resources: { limits: { 'nvidia.com/gpu': 8, memory: '2Ti' } },
      volumeMounts: [
        { name: 'plugins', mountPath: '/opt/plugins' },
        { name: 'scratch', mountPath: '/scratch' },
        { name: 'host', mountPath: '/host' },
      ],
    },
    template: {
      spec: {
        imagePullSecrets: [{ name: 'registry' }],
        volumes: [
          { name: 'plugins', configMap: { name: 'plugins' } },
          { name: 'scratch', persistentVolumeClaim: { claimName: 'scratch' } },
          { name: 'host', hostPath: { path: '/host' } },
        ],
      },
    },
  },
  { name: 'gpu' },
);
const trialPod = (part: TrialPart, controller: Parameters<typeof aController>[0] = {}) =>
  buildTrialPod({ controller: aController(controller), defaults: operatorDefaults, digest: 'digest', part });
const plain = aNodeSet({ slurmd: { securityContext: { privileged: false } } }, { name: 'plain' });

test('slurmd runs with the rights, environment and portable volumes of a worker, and without its devices', () => {
  const { container, volumes } = buildTrialWorker({ id: 'a1', image: 'slurmd:1', nodeSet: gpu }, 0);
  assert.equal(container.securityContext?.privileged, true);
  assert.equal(container.securityContext?.runAsUser, 0);
  assert.deepEqual(container.resources, { requests: { cpu: '50m', memory: '64Mi' } });
  assert.equal(container.imagePullPolicy, 'Always');
  assert.ok(container.env?.some(({ name }) => name === 'A'));
  assert.deepEqual(volumes, [{ name: 'worker-0-0', configMap: { name: 'plugins' } }]);
  assert.deepEqual(
    container.volumeMounts?.map(({ mountPath }) => mountPath),
    ['/etc/slurm/slurm.key', '/trial', '/opt/plugins'],
  );
});

test('an unprivileged worker is tried without privileges', () => {
  const { container } = buildTrialWorker({ id: 'b2', image: 'slurmd:1', nodeSet: plain }, 0);
  assert.equal(container.securityContext?.privileged, false);
  assert.deepEqual(container.securityContext?.capabilities?.drop, ['ALL']);
});

test('the pod has one slurmctld, a slurmd for each image, and the credentials to pull them', () => {
  const workers = [
    { id: 'a1', image: 'slurmd:1', nodeSet: gpu },
    { id: 'b2', image: 'slurmd:2', nodeSet: plain },
  ];
  const { spec } = trialPod({ id: '', scope: 'image', workers });
  assert.deepEqual(
    spec?.containers.map(({ name, image }) => [name, name === 'slurmctld' ? '' : image]),
    [
      ['slurmctld', ''],
      ['slurmd-a1', 'slurmd:1'],
      ['slurmd-b2', 'slurmd:2'],
    ],
  );
  assert.deepEqual(spec?.imagePullSecrets, [{ name: 'registry' }]);
  const [slurmctld] = spec?.containers ?? [];
  assert.deepEqual(slurmctld?.securityContext?.capabilities, { drop: ['ALL'] });
  assert.equal(slurmctld?.securityContext?.runAsNonRoot, true);
  const names = spec?.volumes?.map(({ name }) => name) ?? [];
  assert.equal(new Set(names).size, names.length, 'every volume has a name of its own');
});

test('every image in use is tried once, at most eight, whatever the order in which workers are listed', () => {
  const image = fc.integer({ min: 0, max: 11 }).map((n) => `slurmd:${n}`);
  const worker = fc.record({ image, nodeSet: fc.constantFrom(gpu, plain) });
  fc.assert(
    fc.property(fc.array(worker, { maxLength: 40 }), (workers) => {
      const chosen = distinctTrialWorkers(workers);
      const key = (one: TrialWorker) => `${one.image} ${one.nodeSet.metadata.name}`;
      const all = new Set(workers.map(key));
      assert.equal(chosen.length, Math.min(8, all.size));
      assert.equal(new Set(chosen.map(key)).size, chosen.length);
      const images = new Set(workers.map((one) => one.image));
      assert.equal(
        new Set(chosen.map((one) => one.image)).size,
        Math.min(8, images.size),
        'images come first',
      );
      assert.deepEqual(distinctTrialWorkers(workers.toReversed()).map(key), chosen.map(key));
    }),
  );
});

test('resources of the container slurmd are read from the one in its place, those of other containers are left out', () => {
  const field = (containerName: string) => ({ resourceFieldRef: { containerName, resource: 'limits.cpu' } });
  const nodeSet = aNodeSet({
    slurmd: {
      env: [
        { name: 'CPUS', valueFrom: field('slurmd') },
        { name: 'OTHER', valueFrom: field('logfile') },
      ],
      volumeMounts: [{ name: 'info', mountPath: '/info' }],
    },
    template: {
      spec: { volumes: [{ name: 'info', downwardAPI: { items: [{ path: 'cpus', ...field('slurmd') }] } }] },
    },
  });
  const { container, volumes } = buildTrialWorker({ id: 'a1', image: 'slurmd:1', nodeSet }, 0);
  const env = new Map(container.env?.map(({ name, valueFrom }) => [name, valueFrom]));
  assert.equal(env.get('CPUS')?.resourceFieldRef?.containerName, 'slurmd-a1');
  assert.equal(env.has('OTHER'), false);
  assert.equal(volumes[0]?.downwardAPI?.items?.[0]?.resourceFieldRef?.containerName, 'slurmd-a1');
});

test('a volume of huge pages becomes an ordinary one, and no name of a volume is too long for Kubernetes', () => {
  const name = 'v'.repeat(63);
  const nodeSet = aNodeSet({
    slurmd: { volumeMounts: [{ name, mountPath: '/huge' }] },
    template: { spec: { volumes: [{ name, emptyDir: { medium: 'HugePages-2Mi' } }] } },
  });
  const { container, volumes } = buildTrialWorker({ id: 'a1', image: 'slurmd:1', nodeSet }, 0);
  assert.deepEqual(volumes, [{ name: 'worker-0-0', emptyDir: {} }]);
  assert.equal(container.volumeMounts?.at(-1)?.name, 'worker-0-0');
});

test('workers of two architectures are tried in two pods, each on nodes of its own', () => {
  const groups = distinctTrialWorkers([
    { image: 'slurmd:1', nodeSet: gpu, architecture: 'amd64' },
    { image: 'slurmd:1', nodeSet: gpu, architecture: 'amd64' },
    { image: 'slurmd:1', nodeSet: plain, architecture: 'arm64' },
  ]);
  const parts = trialParts(groups);
  assert.deepEqual(
    parts.map(({ id, architecture, workers }) => [id, architecture, workers.length]),
    [
      ['', 'amd64', 1],
      ['arm64', 'arm64', 1],
    ],
  );
  const placed = parts.map((part) => trialPod(part, { template: { spec: { nodeSelector: { a: 'b' } } } }));
  assert.deepEqual(
    placed.map(({ metadata, spec }) => [
      metadata.name,
      spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]
        ?.matchExpressions?.[0]?.values,
      spec?.nodeSelector,
    ]),
    [
      ['slurm-config-check', ['amd64'], { a: 'b' }],
      ['slurm-config-check-arm64', ['arm64'], undefined],
    ],
  );
  const [one] = trialParts(groups.filter(({ architecture }) => architecture === 'amd64'));
  assert.equal(one?.architecture, undefined, 'with one architecture no pod asks for it');
});

test('on a node the trial has the devices, the volumes and the placement of a worker', () => {
  const nodeSet = aNodeSet(
    {
      ...gpu.spec,
      template: {
        spec: { ...gpu.spec.template?.spec, nodeSelector: { gpu: 'h200' }, tolerations: [{ key: 'gpu' }] },
      },
    },
    { name: 'gpu' },
  );
  const { metadata, spec } = trialPod(partOnNode({ id: 'a1', image: 'slurmd:1', nodeSet }));
  const slurmd = spec?.containers[1];
  assert.equal(metadata.name, 'slurm-config-check-a1');
  assert.deepEqual(slurmd?.resources?.limits, { 'nvidia.com/gpu': 8, memory: '2Ti' });
  assert.match(slurmd?.env?.find(({ name }) => name === 'TRIAL_CONF')?.value ?? '', /Gres=gpu:8/);
  assert.deepEqual(spec?.nodeSelector, { gpu: 'h200' });
  assert.deepEqual(spec?.tolerations, [{ key: 'gpu' }]);
  assert.ok(spec?.volumes?.some(({ hostPath }) => hostPath?.path === '/host'));
  assert.ok(!spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim));
});

test('slurmctld of the trial has the rights and the seccomp profile of the real one', () => {
  const seccompProfile = { type: 'RuntimeDefault' };
  const { spec } = trialPod(
    { id: '', scope: 'image', workers: [] },
    {
      slurmctld: { securityContext: { readOnlyRootFilesystem: true } },
      template: { spec: { securityContext: { seccompProfile } } },
    },
  );
  assert.deepEqual(spec?.securityContext?.seccompProfile, seccompProfile);
  assert.deepEqual(spec?.containers[0]?.securityContext, {
    runAsNonRoot: true,
    runAsUser: 401,
    runAsGroup: 401,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
});
