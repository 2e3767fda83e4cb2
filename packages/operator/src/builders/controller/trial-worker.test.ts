import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aController, aNodeSet, surroundings } from '../../../testing/objects.ts';
import { buildTrialPod } from './config-check.ts';
import { buildTrialWorker, distinctTrialWorkers, type TrialWorker } from './trial-worker.ts';

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
const plain = aNodeSet({ slurmd: { securityContext: { privileged: false } } }, { name: 'plain' });

test('slurmd runs with the rights, environment and portable volumes of a worker, and without its devices', () => {
  const { container, volumes } = buildTrialWorker({ image: 'slurmd:1', nodeSet: gpu }, 0);
  assert.equal(container.securityContext?.privileged, true);
  assert.equal(container.securityContext?.runAsUser, 0);
  assert.deepEqual(container.resources, { requests: { cpu: '50m', memory: '64Mi' } });
  assert.equal(container.imagePullPolicy, 'Always');
  assert.ok(container.env?.some(({ name }) => name === 'A'));
  assert.deepEqual(volumes, [{ name: 'worker-0-plugins', configMap: { name: 'plugins' } }]);
  assert.deepEqual(
    container.volumeMounts?.map(({ mountPath }) => mountPath),
    ['/etc/slurm/slurm.key', '/trial', '/opt/plugins'],
  );
});

test('an unprivileged worker is tried without privileges', () => {
  const { container } = buildTrialWorker({ image: 'slurmd:1', nodeSet: plain }, 0);
  assert.equal(container.securityContext?.privileged, false);
  assert.deepEqual(container.securityContext?.capabilities?.drop, ['ALL']);
});

test('the pod has one slurmctld, a slurmd for each image, and the credentials to pull them', () => {
  const workers = [
    { image: 'slurmd:1', nodeSet: gpu },
    { image: 'slurmd:2', nodeSet: plain },
  ];
  const { spec } = buildTrialPod(aController(), surroundings, 'digest', { workers, compares: true });
  assert.deepEqual(
    spec?.containers.map(({ name, image }) => [name, name === 'slurmctld' ? '' : image]),
    [
      ['slurmctld', ''],
      ['slurmd-0', 'slurmd:1'],
      ['slurmd-1', 'slurmd:2'],
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
