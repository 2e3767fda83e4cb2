import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servesHttp, slurmVersionOf, versionHold } from './slurm-version.ts';

test('the version is read from the tag, wherever it stands', () => {
  const cases: [string | undefined, string | undefined][] = [
    ['slurm-operator/slurmd:26.05', '26.5'],
    ['registry:5000/slurm/slurmd:24.11.5-debian', '24.11'],
    ['slurmd:build-25.11', '25.11'],
    ['slurmd:latest', undefined],
    ['registry:5000/slurmd', undefined],
    ['slurmd:26.05@sha256:0123', '26.5'],
    [undefined, undefined],
  ];
  for (const [image, expected] of cases) {
    const version = slurmVersionOf(image);
    assert.equal(
      version === undefined ? undefined : `${version.major}.${version.minor}`,
      expected,
      String(image),
    );
  }
});

test('HTTP probes are used from 25.11 on, and where nothing is known', () => {
  assert.equal(servesHttp('slurmd:24.11'), false);
  assert.equal(servesHttp('slurmd:25.11'), true);
  assert.equal(servesHttp('slurmd:main'), true);
});

test('workers wait for slurmctld to be upgraded first', () => {
  assert.match(
    versionHold({ major: 26, minor: 5 }, { major: 25, minor: 11 }) ?? '',
    /26\.05 and slurmctld still runs 25\.11/,
  );
  assert.equal(versionHold({ major: 25, minor: 11 }, { major: 26, minor: 5 }), undefined);
  assert.equal(versionHold({ major: 25, minor: 11 }, { major: 25, minor: 11 }), undefined);
  assert.equal(versionHold(undefined, { major: 25, minor: 11 }), undefined);
});
