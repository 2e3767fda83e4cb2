import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aController } from '../../../testing/objects.ts';
import type { PodFacts } from '../../framework/status/pods.ts';
import { unusableVolume } from './unusable-volume.ts';

const pod = (lastLogLine: string | undefined, ready = false) =>
  ({ name: 'slurm-controller-0', ready, lastLogLine }) as PodFacts;
const fatal = 'slurmctld: fatal: Incorrect permissions on state save loc: /var/spool/slurmctld/a';
const squashed = "chown: changing ownership of '/var/spool/slurmctld/a': Operation not permitted";

for (const [reason, persistence, pods, expected] of [
  ['nothing is said of a slurmctld that runs', {}, [pod(undefined)], undefined],
  ['another cause is left to others', {}, [pod('fatal: no such plugin')], undefined],
  ['one that is ready again is no problem', {}, [pod(fatal, true)], undefined],
  [
    'a volume that ignores fsGroup names the field',
    {},
    [pod(fatal)],
    /save loc.*spec\.persistence\.fixOwnership to true/,
  ],
  [
    'with the field set, the field is not the advice',
    { fixOwnership: true },
    [pod(fatal)],
    /although persistence\.fixOwnership is true.*access mode/,
  ],
  [
    'a storage that squashes root names what to do there',
    { fixOwnership: true },
    [pod(squashed)],
    /root_squash.*401/,
  ],
] as const)
  test(reason, () => {
    const [problem] = unusableVolume({ controller: aController({ persistence }), pods });
    if (expected === undefined) assert.equal(problem, undefined);
    else {
      assert.equal(problem?.reason, 'CrashLooping');
      assert.match(problem.message, expected);
      assert.match(problem.message, /pod slurm-controller-0/);
    }
  });
