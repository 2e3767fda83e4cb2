/** Which NodeSets make the same workers, and what a recorded revision of one means. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyDefaults, label, type NodeSet, nodeSetKind } from '@slurm-operator/api';
import type { ControllerRevision } from '@slurm-operator/kube';
import fc from 'fast-check';
import { asOfRevision, currentRevision, revisionData, revisionHash } from './revision.ts';

function nodeSetOf(spec: Partial<NodeSet['spec']> = {}): NodeSet {
  return applyDefaults(nodeSetKind, {
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind: 'NodeSet',
    metadata: { name: 'gpu', namespace: 'slurm', uid: 'set-uid' },
    spec: { controllerRef: { name: 'main' }, ...spec },
  } as unknown as NodeSet);
}

test('the revision follows the content of what makes a pod, not its order and nothing else', () => {
  const a = nodeSetOf({ slurmd: { image: 'x', tty: true } });
  const b = nodeSetOf({ slurmd: { tty: true, image: 'x' } });
  assert.equal(revisionHash(a), revisionHash(b));
  assert.notEqual(revisionHash(a), revisionHash(nodeSetOf({ slurmd: { image: 'y', tty: true } })));
  fc.assert(
    fc.property(fc.nat({ max: 100 }), (replicas) => {
      assert.equal(
        revisionHash({ ...a, spec: { ...a.spec, replicas, partition: { enabled: true } } }),
        revisionHash(a),
      );
    }),
  );
});

test('a revision with equal content keeps its name, regardless of its author; one with other content does not', () => {
  const set = nodeSetOf({
    slurmd: { image: 'x', resources: { limits: { cpu: 4, memory: '8192Mi' } } },
    template: { spec: { hostname: 'gpu-', tolerations: [] } },
  });
  const recorded = (slurmd: object, hash = 'theirs', revision = 1): ControllerRevision => ({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: `gpu-${hash}`, labels: { [label.revision]: hash } },
    revision,
    data: {
      spec: {
        template: { $patch: 'replace', metadata: {}, spec: { hostname: 'gpu-', containers: null } },
        slurmd: { $patch: 'replace', name: '', image: 'x', ...slurmd },
        ordinalPadding: 0,
      },
    },
  });
  const own = revisionHash(set);
  const same = { resources: { limits: { cpu: '4', memory: '8Gi' } } };
  assert.equal(currentRevision(set, []), own);
  assert.equal(currentRevision(set, [recorded(same)]), 'theirs');
  assert.equal(
    currentRevision(set, [recorded(same, 'old', 1), recorded(same, 'new', 2)]),
    'new',
    'the newest',
  );
  assert.equal(currentRevision(set, [recorded(same), recorded({}, own, 2)]), own, 'our own name comes first');
  for (const other of [
    { resources: { limits: { cpu: '5', memory: '8Gi' } } },
    { ...same, image: 'y' },
    { ...same, args: ['-v'] },
    {},
  ])
    assert.equal(currentRevision(set, [recorded(other)]), own, JSON.stringify(other));
});

test('a NodeSet as it was at a revision: the parts that make workers are those of then, the rest is of now', () => {
  const then = nodeSetOf({ slurmd: { image: 'slurmd:1' }, extraConf: 'Weight=1', replicas: 2 });
  const today = nodeSetOf({ slurmd: { image: 'slurmd:2' }, logfile: { image: 'log:1' }, replicas: 5 });
  const again = asOfRevision(today, JSON.parse(revisionData(then)));
  assert.equal(revisionHash(again), revisionHash(then));
  assert.equal(again.spec.replicas, 5);
  const upstream = { spec: { $patch: 'replace', ...JSON.parse(revisionData(then)).spec } };
  assert.equal(
    revisionHash(asOfRevision(today, upstream)),
    revisionHash(then),
    'directives of upstream say nothing',
  );
});
