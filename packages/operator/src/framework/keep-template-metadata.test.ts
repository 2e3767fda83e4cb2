import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keepTemplateMetadata, keptMetadataAnnotation } from './keep-template-metadata.ts';

interface Template {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly image?: string;
}

const workload = ({ labels = {}, annotations = {}, image = 'a' }: Template) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'slurm-controller', annotations: {} as Record<string, string> },
  spec: { template: { metadata: { labels, annotations }, spec: { containers: [{ image }] } } },
});
/** As the API server would hold it: with what it fills in. */
const stored = (object: ReturnType<typeof workload>) => ({
  ...object,
  spec: {
    template: {
      ...object.spec.template,
      spec: { ...object.spec.template.spec, dnsPolicy: 'ClusterFirst' },
    },
  },
});

test('what an earlier version copied into a template stays while nothing else changes, and leaves with the next change', () => {
  const old = stored(workload({ labels: { app: 'x', team: 'hpc' }, annotations: { 'velero.io/y': '1' } }));
  const wanted = workload({ labels: { app: 'x' } });
  const first = keepTemplateMetadata(old, wanted);
  assert.deepEqual(first.spec.template, {
    metadata: { labels: { app: 'x', team: 'hpc' }, annotations: { 'velero.io/y': '1' } },
    spec: wanted.spec.template.spec,
  });
  const again = keepTemplateMetadata(stored(first), wanted);
  assert.deepEqual(again, first, 'the next reconcile writes the same');
  const changed = keepTemplateMetadata(stored(first), workload({ labels: { app: 'x' }, image: 'b' }));
  assert.deepEqual(changed.spec.template.metadata, { labels: { app: 'x' }, annotations: {} });
  assert.deepEqual(
    keepTemplateMetadata(stored(changed), workload({ labels: { app: 'x' }, image: 'b' })),
    changed,
  );
});

test('what a user takes out of spec.template.metadata leaves the template', () => {
  const made = keepTemplateMetadata(undefined, workload({ labels: { app: 'x', team: 'hpc' } }));
  const after = keepTemplateMetadata(stored(made), workload({ labels: { app: 'x' } }));
  assert.deepEqual(after.spec.template.metadata.labels, { app: 'x' });
});

test('a key that spec.template.metadata sets again has the value that it says', () => {
  const old = stored(workload({ labels: { team: 'old' } }));
  const after = keepTemplateMetadata(old, workload({ labels: { team: 'new' } }));
  assert.deepEqual(after.spec.template.metadata.labels, { team: 'new' });
  assert.equal(after.metadata.annotations[keptMetadataAnnotation], '{"labels":[],"annotations":[]}');
});

test('an annotation with an invalid value keeps nothing and causes no failure', () => {
  const old = stored(workload({ labels: { team: 'hpc' } }));
  old.metadata.annotations = { [keptMetadataAnnotation]: '{"labels":3' };
  assert.deepEqual(keepTemplateMetadata(old, workload({})).spec.template.metadata.labels, {});
});

test('an annotation of kubectl rollout restart is left to kubectl', () => {
  const old = stored(workload({ annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } }));
  assert.deepEqual(keepTemplateMetadata(old, workload({})).spec.template.metadata.annotations, {});
});

test('an upgrade of the operator alone leaves every template as it is, and writes it only once', () => {
  const pairs = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.stringMatching(/^[a-z]{0,3}$/), {
    maxKeys: 4,
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(pairs, pairs, pairs, (ours, labels, annotations) => {
      const old = stored(workload({ labels: { ...labels, ...ours }, annotations }));
      const wanted = workload({ labels: ours });
      const first = keepTemplateMetadata(old, wanted);
      assert.deepEqual(first.spec.template.metadata, old.spec.template.metadata);
      assert.deepEqual(keepTemplateMetadata(stored(first), wanted), first);
    }),
  );
});
