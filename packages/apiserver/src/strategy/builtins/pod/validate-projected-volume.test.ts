import assert from 'node:assert/strict';
import { test } from 'node:test';
import { projectedFaults } from './validate-projected-volume.ts';

type Projected = Parameters<typeof projectedFaults>[0];

const cases: readonly { reason: string; volume: Projected; want: readonly string[] }[] = [
  {
    reason: 'files of several sources beside each other',
    volume: {
      sources: [
        { secret: { name: 'a', items: [{ key: 'k', path: 'x' }] } },
        { serviceAccountToken: { path: 'token', expirationSeconds: 600 } },
      ],
    },
    want: [],
  },
  {
    reason: 'two sources with the same file',
    volume: {
      sources: [
        { secret: { name: 'a', items: [{ key: 'k', path: 'x' }] } },
        { configMap: { name: 'b', items: [{ key: 'k', path: 'x' }] } },
      ],
    },
    want: ['v: Invalid value: "b": conflicting duplicate paths'],
  },
  {
    reason: 'a token that is too short-lived, without a path',
    volume: { sources: [{ serviceAccountToken: { path: '', expirationSeconds: 599 } }] },
    want: [
      'v.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
      'v.sources[0].serviceAccountToken.path: Required value',
    ],
  },
  {
    reason: 'a field that only environment variables may have',
    volume: {
      sources: [{ downwardAPI: { items: [{ path: 'a', resourceFieldRef: { resource: 'limits.cpu' } }] } }],
    },
    want: ['v.sources[0].downwardAPI.resourceFieldRef.containerName: Required value'],
  },
  { reason: 'a source of nothing', volume: { sources: [{}] }, want: ['v.sources[0]: Required value'] },
];

for (const { reason, volume, want } of cases)
  test(`a projected volume: ${reason}`, () =>
    assert.deepEqual(
      projectedFaults(volume, 'v').map(({ field, message }) => `${field}: ${message}`),
      want,
    ));
