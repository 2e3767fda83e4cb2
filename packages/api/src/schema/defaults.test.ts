import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerKind, nodeSetKind } from '../kinds/index.ts';
import { applyDefaults, withDefaults } from './defaults.ts';

test('a NodeSet that says only where it belongs means all of this', () => {
  const { spec } = applyDefaults(nodeSetKind, { spec: { controllerRef: { name: 'slurm' } } });
  assert.deepEqual(spec, {
    controllerRef: { name: 'slurm' },
    replicas: 1,
    scalingMode: 'StatefulSet',
    partition: { enabled: false },
    updateStrategy: {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: '25%', partition: 0, paused: false },
    },
    revisionHistoryLimit: 0,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    ordinalPadding: 0,
    pinToNode: false,
    workloadDisruptionProtection: true,
    pruneSlurmNodeRecords: 'Never',
    oversubscribeNode: false,
    deletionPolicy: 'Drain',
  });
});

test('defaults are filled in below what the user gave, in lists too, and the given object stays as it is', () => {
  const given = { spec: { persistence: { storageClassName: 'fast' }, configFileRefs: [{}], ha: {} } };
  const { spec } = applyDefaults(controllerKind, given);
  assert.deepEqual(spec.persistence, { storageClassName: 'fast', enabled: true });
  assert.deepEqual(spec.configFileRefs, [{ name: '' }]);
  assert.deepEqual(spec.ha, { enabled: false, backups: 1 });
  assert.deepEqual(given, {
    spec: { persistence: { storageClassName: 'fast' }, configFileRefs: [{}], ha: {} },
  });
});

test('a false, a 0 and an empty text are the user’s and stay', () => {
  const { spec } = applyDefaults(nodeSetKind, {
    spec: { controllerRef: { name: '' }, replicas: 0, workloadDisruptionProtection: false },
  });
  assert.equal(spec.replicas, 0);
  assert.equal(spec.workloadDisruptionProtection, false);
  assert.equal(spec.controllerRef.name, '');
});

test('a null is kept where it is allowed, replaced by a default where there is one, and dropped elsewhere', () => {
  const schema = {
    type: 'object',
    properties: {
      kept: { type: 'array', nullable: true },
      filled: { type: 'integer', default: 7 },
      dropped: { type: 'string' },
    },
  } as const;
  assert.deepEqual(withDefaults(schema, { kept: null, filled: null, dropped: null }), {
    kept: null,
    filled: 7,
  });
});
