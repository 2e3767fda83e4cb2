import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Content } from './cluster-contents.ts';
import { marksLeft, ownership, runLabel } from './ownership.ts';

const object = (kind: string, name: string, rest: Partial<Content> = {}): Content => ({
  path: `/${kind}/${rest.namespace ?? ''}/${name}`,
  kind,
  namespace: '',
  name,
  ...rest,
});

const marked = object('Namespace', 'slurm', { labels: { [runLabel]: 'run-1' } });
const others = object('Namespace', 'team');
const anotherRun = object('Namespace', 'hybrid', { labels: { [runLabel]: 'run-2' } });
const { isOurs } = ownership('run-1', [marked, others, anotherRun, object('Namespace', 'slinky')]);

test('a namespace belongs to the run only with the label of the run, or a name that only the product uses', () => {
  assert.equal(isOurs(marked), true);
  assert.equal(isOurs(others), false, 'created by others meanwhile, with a name of the tests');
  assert.equal(isOurs(anotherRun), false);
  assert.equal(isOurs(object('Namespace', 'slinky')), true);
  assert.equal(isOurs(object('Namespace', 'batch', { labels: { [runLabel]: 'run-1' } })), false);
});

test('what is in a namespace of the run is the run’s, and nothing in other namespaces is', () => {
  assert.equal(isOurs(object('Secret', 'anything', { namespace: 'slurm' })), true);
  assert.equal(isOurs(object('Secret', 'slurm-operator', { namespace: 'team' })), false);
  assert.equal(isOurs(object('ConfigMap', 'slurm-operator', { namespace: 'default' })), false);
});

test('cluster-wide objects are the run’s by their release, by the names of the plain YAML, or by the API group', () => {
  const of = (namespace: string) => ({ annotations: { 'meta.helm.sh/release-namespace': namespace } });
  assert.equal(isOurs(object('PriorityClass', 'slurm-priority', of('slurm'))), true);
  assert.equal(isOurs(object('ClusterRole', 'slurm-web', of('web'))), false, 'another product');
  assert.equal(isOurs(object('ClusterRole', 'slurm-operator-viewer')), true);
  assert.equal(isOurs(object('CustomResourceDefinition', 'nodesets.slinky.slurm.net')), true);
  const policy = 'controller-cluster-name.slinky.slurm.net';
  assert.equal(isOurs(object('ValidatingAdmissionPolicy', policy)), true);
  assert.equal(isOurs(object('ValidatingAdmissionPolicyBinding', policy)), true);
  assert.equal(isOurs(object('Node', 'slurm-operator-1')), false);
  assert.equal(isOurs(object('ClusterRole', 'ingress')), false);
});

test('a volume is the run’s when its claim was in a namespace of the tests', () => {
  assert.equal(isOurs(object('PersistentVolume', 'pvc-1', { claimNamespace: 'slurm' })), true);
  assert.equal(isOurs(object('PersistentVolume', 'pvc-2', { claimNamespace: 'web' })), false);
  assert.equal(isOurs(object('PersistentVolume', 'pvc-3', { claimNamespace: 'team' })), false, 'of others');
  assert.equal(isOurs(object('PersistentVolume', 'slurm-data')), false);
});

test('an annotation of the product that stays on a node is named', () => {
  const node = (annotations: Record<string, string>) =>
    new Map([['/n', object('Node', 'n', { annotations })]]);
  const key = 'topology.slinky.slurm.net/spec';
  assert.deepEqual(marksLeft(node({}), node({ [key]: 'a', other: 'b' })), [`${key} on /n`]);
  assert.deepEqual(marksLeft(node({ [key]: 'a' }), node({ [key]: 'a' })), []);
});
