import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import type { Deployment, Live, StatefulSet } from '@slurm-operator/kube';
import { aController } from '../../testing/objects.ts';
import { describeActions } from './actions.ts';
import { planDeployment, planStatefulSet } from './plan-workload.ts';

const owner = aController() as unknown as Live;
const ownerReferences = [
  { apiVersion: 'v1', kind: 'Controller', name: 'slurm', uid: owner.metadata.uid, controller: true },
];
const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'main', image: 'a' }] } };
const desired: StatefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'slurm-controller', namespace: 'hpc' },
  spec: { serviceName: 'slurm', selector: { matchLabels: { app: 'x' } }, template },
};
const live = (spec: object, metadata: object = { ownerReferences }): Live<StatefulSet> =>
  ({
    ...desired,
    metadata: { ...desired.metadata, uid: 'u1', resourceVersion: '1', ...metadata },
    spec: { ...desired.spec, ...spec },
  }) as Live<StatefulSet>;

test('a StatefulSet whose immutable fields differ is deleted without its pods, and only if it is ours', () => {
  const other = { serviceName: 'another' };
  const [action, ...rest] = planStatefulSet(owner, live(other), desired);
  assert.deepEqual(rest, []);
  assert.ok(action?.type === 'Delete');
  assert.deepEqual([action.uid, action.propagation], ['u1', 'Orphan']);
  assert.deepEqual(
    planStatefulSet(owner, live(other, { ownerReferences, deletionTimestamp: 'now' }), desired),
    [],
    'it waits until the old one is gone',
  );
  assert.deepEqual(describeActions(planStatefulSet(owner, live(other, {}), desired)), [
    'apply StatefulSet slurm-controller',
  ]);
});

test('an apply repeats the claim templates that exist, because they are immutable', () => {
  const volumeClaimTemplates = [{ metadata: { name: 'state' }, spec: { storageClassName: 'old' } }];
  const withClaims = { ...desired, spec: { ...desired.spec, volumeClaimTemplates: [] } } as StatefulSet;
  const [action] = planStatefulSet(owner, live({ volumeClaimTemplates }), withClaims);
  assert.ok(action?.type === 'Apply');
  assert.deepEqual((action.object as StatefulSet).spec?.volumeClaimTemplates, volumeClaimTemplates);
});

test('a Secret that is away does not replace pods: the digest that they were started with stays', () => {
  const withDigest = (digest: string, note = '1') => ({
    ...template,
    metadata: {
      ...template.metadata,
      annotations: { [annotation.slurmKeyHash]: digest, 'example.com/note': note },
    },
  });
  const next = { ...desired, spec: { ...desired.spec, template: withDigest('', '') } } as StatefulSet;
  const applied = (before: Live<StatefulSet> | undefined) => {
    const [action] = planStatefulSet(owner, before, next);
    assert.ok(action?.type === 'Apply');
    return (action.object as StatefulSet).spec?.template.metadata?.annotations;
  };
  assert.deepEqual(applied(live({ template: withDigest('key-1') })), {
    [annotation.slurmKeyHash]: 'key-1',
    'example.com/note': '',
  });
  assert.equal(applied(undefined)?.[annotation.slurmKeyHash], '');
});

test('rollingUpdate is removed before another strategy is applied, and only from a workload of ours', () => {
  const rolling = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } };
  const deployment = {
    ...desired,
    kind: 'Deployment',
    spec: { selector: { matchLabels: { app: 'x' } }, template, strategy: { type: 'Recreate' } },
  } as Deployment;
  const found = (metadata: object) => live(rolling, metadata) as unknown as Live<Deployment>;
  const plan = planDeployment(owner, found({ ownerReferences }), deployment);
  assert.deepEqual(describeActions(plan), [
    'patch Deployment slurm-controller',
    'apply Deployment slurm-controller',
  ]);
  const [patch] = plan;
  assert.ok(patch?.type === 'Patch');
  assert.deepEqual(patch.body, {
    metadata: { uid: 'u1' },
    spec: { strategy: { type: 'Recreate', rollingUpdate: null } },
  });
  assert.equal(planDeployment(owner, found({}), deployment).length, 1);
});
