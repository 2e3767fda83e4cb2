import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observeClaim } from './observe-claim.ts';

test('claims are known by their annotation, and those of upstream by their name', () => {
  const claim = (name: string, annotations: Record<string, string> = {}) => ({
    apiVersion: 'v1' as const,
    kind: 'PersistentVolumeClaim' as const,
    metadata: { name, uid: 'c', annotations },
  });
  const set = { name: 'gpu', uid: 'u' };
  assert.deepEqual(observeClaim(claim('data-gpu-007'), set)?.slot, { mode: 'StatefulSet', ordinal: 7 });
  assert.deepEqual(
    observeClaim(claim('x', { 'nodeset.slinky.slurm.net/claim-slot': 'node/rack1' }), set)?.slot,
    { mode: 'DaemonSet', nodeName: 'rack1' },
  );
  assert.equal(observeClaim(claim('data-gpu-big-x'), set), undefined);
});
