import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../api/types.ts';
import { clusterColumns } from './cluster-columns.ts';
import { customCells, customColumns } from './custom-columns.ts';
import { humanDuration } from './human-duration.ts';
import { findAll } from './json-path.ts';
import { podColumns } from './pod-columns.ts';

test('durations lose digits as they grow', () => {
  const spans: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [119, '119s'],
    [121, '2m1s'],
    [600, '10m'],
    [7200, '120m'],
    [3 * 3600 + 300, '3h5m'],
    [9 * 3600, '9h'],
    [49 * 3600, '2d1h'],
    [10 * 86_400, '10d'],
    [800 * 86_400, '2y70d'],
    [9 * 365 * 86_400, '9y'],
  ];
  for (const [seconds, want] of spans) assert.equal(humanDuration(seconds * 1000), want);
});

test('paths of columns: fields, indices, all items, items that match', () => {
  const object = {
    a: { 'b.c': 1 },
    list: [
      { t: 'x', v: 1 },
      { t: 'y', v: 2 },
    ],
    n: null,
  };
  const paths: readonly (readonly [string, readonly unknown[]])[] = [
    [".a['b.c']", [1]],
    ['.list[1].v', [2]],
    ['.list[-1].t', ['y']],
    ['.list[*].v', [1, 2]],
    ['.list[?(@.t=="y")].v', [2]],
    ['.list[?(@.v>1)].t', ['y']],
    ['.list[7].v', []],
    ['.nothing.at.all', []],
  ];
  for (const [path, want] of paths) assert.deepEqual(findAll(object, path), want, path);
});

test('cells of custom columns are of their type or empty', () => {
  const columns = [
    { name: 'N', type: 'integer', jsonPath: '.n' },
    { name: 'S', type: 'string', jsonPath: '.s' },
    { name: 'When', type: 'date', jsonPath: '.when' },
  ];
  const now = Date.parse('2026-01-01T02:00:00Z');
  const object = { metadata: {}, n: 'x', s: { a: 1 }, when: '2026-01-01T00:00:00Z' } as KubeObject;
  assert.deepEqual(customCells(columns, object, now), [null, '{"a":1}', '120m']);
  assert.deepEqual(
    customColumns(undefined).map(({ name, type }) => [name, type]),
    [['Age', 'date']],
  );
});

test('a pod is shown by the most telling word', () => {
  const state = (status: object, metadata: object = {}): unknown => {
    const pod = {
      metadata,
      spec: { containers: [{ name: 'c' }], initContainers: [{ name: 'i' }] },
      status,
    } as KubeObject;
    return podColumns.find(({ definition }) => definition.name === 'Status')?.cell(pod, 0);
  };
  assert.equal(state({ phase: 'Pending' }), 'Pending');
  assert.equal(state({ phase: 'Running' }, { deletionTimestamp: 'now' }), 'Terminating');
  const waiting = { state: { waiting: { reason: 'CrashLoopBackOff' } } };
  assert.equal(state({ phase: 'Running', containerStatuses: [waiting] }), 'CrashLoopBackOff');
  assert.equal(
    state({ phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { running: {} } }] }),
    'Init:0/1',
  );
  const ended = { state: { terminated: { exitCode: 3 } } };
  assert.equal(state({ phase: 'Failed', containerStatuses: [ended] }), 'ExitCode:3');
});

test('a claim shows what its volume has, and only once it has one', () => {
  const claim = (spec: object, status: object): KubeObject => ({
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c' },
    spec,
    status,
  });
  const cells = (object: KubeObject) =>
    clusterColumns['PersistentVolumeClaim']?.slice(1, 7).map(({ cell }) => cell(object, 0));
  assert.deepEqual(cells(claim({ accessModes: ['ReadWriteOnce'] }, { phase: 'Pending' })), [
    'Pending',
    '',
    '',
    '',
    '',
    '<unset>',
  ]);
  const bound = claim(
    { accessModes: ['ReadWriteOnce'], volumeName: 'pv', storageClassName: 's' },
    { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteMany', 'ReadWriteOnce'] },
  );
  assert.deepEqual(cells(bound), ['Bound', 'pv', '1Gi', 'RWO,RWX', 's', '<unset>']);
});

test('the default storage class is marked beside its name', () => {
  const name = (annotations: object) =>
    clusterColumns['StorageClass']?.[0]?.cell({ metadata: { name: 's', annotations } } as KubeObject, 0);
  assert.equal(name({ 'storageclass.kubernetes.io/is-default-class': 'true' }), 's (default)');
  assert.equal(name({}), 's');
});
