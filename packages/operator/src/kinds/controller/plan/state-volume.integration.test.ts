/** The volume of slurmctld on an API server that refuses other claim templates, as Kubernetes does. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { defineResource, type KubeObject, persistentVolumeClaims, statefulSets } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController } from '../../../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../../../testing/operator-world.ts';
import { controllers } from '../../../cache/resources.ts';

const storageClasses = defineResource<
  KubeObject & { readonly provisioner: string; readonly allowVolumeExpansion?: boolean }
>({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  namespaced: false,
});

let world: OperatorWorld;
const namespace = 'hpc';
const set = { namespace, name: 'slurm-controller' };
const claim = { namespace, name: 'statesave-slurm-controller-0' };

before(async () => {
  world = await startOperatorWorld();
  await world.client.create(storageClasses, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard' },
    provisioner: 'example.org/disks',
  });
  await world.operate();
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', 'j'.repeat(64));
  const { apiVersion, kind, spec } = aController({ persistence: { storageClassName: 'standard' } });
  await world.client.create(controllers, {
    apiVersion,
    kind,
    metadata: { name: 'slurm', namespace },
    spec,
  });
  const made = await until('StatefulSet', () => world.client.find(statefulSets, set));
  // What the StatefulSet controller and a provisioner do.
  const [template] = made.spec?.volumeClaimTemplates ?? [];
  await world.client.create(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...claim, labels: made.spec?.selector.matchLabels },
    spec: { ...template?.spec, volumeName: 'pv-1' },
  });
  await world.client.mergePatch(
    persistentVolumeClaims,
    claim,
    { status: { phase: 'Bound', capacity: { storage: '4Gi' } } },
    { subresource: 'status' },
  );
});
after(() => world.stop(['patch persistentvolumeclaims in hpc']));

const setPersistence = (persistence: object) =>
  world.client.mergePatch(controllers, { namespace, name: 'slurm' }, { spec: { persistence } });

const image = async () =>
  (await world.client.get(statefulSets, set)).spec?.template.spec?.containers[0]?.image;

test('a class whose volumes cannot grow is named, with what to do', async () => {
  await setPersistence({ resources: { requests: { storage: '9Gi' } } });
  const told = await world.said(controllers, 'slurm', conditionType.degraded, 'VolumeUnchangeable');
  assert.match(
    told.message,
    /is "9Gi", but Kubernetes refuses to enlarge PersistentVolumeClaim statesave-slurm-controller-0: .*must support resize.*allowVolumeExpansion/,
  );
  await world.client.mergePatch(storageClasses, { name: 'standard' }, { allowVolumeExpansion: true });
});

test('a larger volume is asked of its claim, and a new image reaches slurmctld all the same', async () => {
  await setPersistence({ resources: { requests: { storage: '10Gi' } } });
  await until('the claim to ask for 10Gi', async () => {
    const { spec } = await world.client.get(persistentVolumeClaims, claim);
    return spec?.resources?.requests?.['storage'] === '10Gi' || undefined;
  });
  const resizing = await world.said(controllers, 'slurm', conditionType.progressing, 'VolumeResizing');
  assert.match(resizing.message, /statesave-slurm-controller-0.*4Gi.*10Gi/);
  const change = { spec: { slurmctld: { image: 'images.example/slurmctld:26.05-1' } } };
  await world.client.mergePatch(controllers, { namespace, name: 'slurm' }, change);
  await until('the new image', async () => (await image())?.endsWith('26.05-1') || undefined);
});

test('another storage class is refused in words, and other changes go on', async () => {
  await setPersistence({ storageClassName: 'fast' });
  const told = await world.said(controllers, 'slurm', conditionType.degraded, 'VolumeUnchangeable');
  assert.match(told.message, /spec\.persistence\.storageClassName is "fast".*"standard"/);
  const change = { spec: { slurmctld: { image: 'images.example/slurmctld:26.05-2' } } };
  await world.client.mergePatch(controllers, { namespace, name: 'slurm' }, change);
  await until('the new image', async () => (await image())?.endsWith('26.05-2') || undefined);
});

test('a smaller volume is refused with a message; the condition clears when the size is restored', async () => {
  await setPersistence({ storageClassName: 'standard', resources: { requests: { storage: '5Gi' } } });
  const told = await until('the refusal', async () => {
    const condition = await world.said(controllers, 'slurm', conditionType.degraded, 'VolumeUnchangeable');
    return /cannot shrink/.test(condition.message) ? condition : undefined;
  });
  assert.match(told.message, /spec\.persistence\.resources\.requests\.storage is "5Gi".*10Gi/);
  await setPersistence({ resources: { requests: { storage: '10Gi' } } });
  await until('nothing to complain about', async () => {
    const { status } = await world.client.get(controllers, { namespace, name: 'slurm' });
    const degraded = status?.conditions?.find(({ type }) => type === conditionType.degraded);
    return degraded?.reason !== 'VolumeUnchangeable' || undefined;
  });
  const { spec } = await world.client.get(persistentVolumeClaims, claim);
  assert.equal(spec?.resources?.requests?.['storage'], '10Gi');
});
