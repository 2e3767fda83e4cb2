/** The fields of a QOS: from a specification, from a row, and back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyQos } from '@slurm-operator/slurm';
import { Random, randomQos } from '@slurm-operator/slurm/testing';
import { aQualityOfService } from '../../../testing/objects.ts';
import { decide } from '../../declared/decide.ts';
import type { Fields } from '../../declared/fields.ts';
import { changedRow, desiredFields, rowFields, unsetFields } from './fields.ts';

test('every field of the specification has a place in the row', () => {
  const share = {
    jobs: 1,
    submit: 2,
    accruing: 3,
    tres: { cpu: 4, 'gres/gpu.x': 5 },
    tresRunMinutes: { cpu: 6 },
  };
  const qos = aQualityOfService({
    name: 'all',
    description: 'everything',
    priority: 7,
    flags: ['NoDecay', 'DenyOnLimit'],
    preempts: ['low', 'idle'],
    preemptMode: 'Requeue',
    preemptExemptTime: '90s',
    graceTime: '2m',
    usageFactor: '0.5',
    usageThreshold: '0.1',
    limitFactor: '2',
    limits: {
      group: { ...share, tresMinutes: { cpu: 8 }, wall: '100h' },
      perUser: share,
      perAccount: share,
      perJob: {
        tres: { cpu: 9 },
        tresPerNode: { cpu: 10 },
        tresMinutes: { cpu: 11 },
        minTres: { cpu: 1 },
        wall: '1h30m',
      },
      minPriority: 12,
    },
  });
  const desired = desiredFields(qos);
  const { changes } = decide({
    desired,
    applied: undefined,
    current: undefined,
    defaults: unsetFields,
    drift: 'Correct',
    adopt: false,
  });
  const row = changedRow('all', undefined, changes);
  assert.deepEqual(rowFields(row), desired);
  assert.deepEqual(Object.keys(row).toSorted(), Object.keys(emptyQos('all')).toSorted(), 'no unknown field');
  assert.equal(row.limits.perJob.wallMinutes, 90);
  assert.equal(row.graceSeconds, 120);
  assert.deepEqual(row.limits.group.tres, { cpu: 4, 'gres/gpu.x': 5 });
});

test('a limit of each user is not one of each account', () => {
  const jobs = { path: 'limits.perUser.jobs', from: undefined, to: 3 };
  const { limits } = changedRow('q', undefined, [jobs]);
  assert.deepEqual([limits.perUser.jobs, limits.perAccount.jobs], [3, 'infinite']);
});

test('changing any random row into any other one leaves what is not named as it was', () => {
  const random = new Random(5);
  for (let round = 0; round < 500; round += 1) {
    const before = randomQos('q', random, ['low', 'idle']);
    const after = rowFields(randomQos('q', random, ['low', 'idle']));
    const named: Fields = Object.fromEntries(
      Object.entries(after).filter(([path]) => path === 'name' || random.next() < 0.5),
    );
    const { changes } = decide({
      desired: named,
      applied: {},
      current: rowFields(before),
      defaults: unsetFields,
      drift: 'Correct',
      adopt: true,
    });
    const row = changedRow('q', before, changes);
    assert.deepEqual(rowFields(row), { ...rowFields(before), ...named });
    const unset = decide({
      desired: { name: 'q' },
      applied: named,
      current: rowFields(row),
      defaults: unsetFields,
      drift: 'Correct',
      adopt: true,
    });
    const left = rowFields(changedRow('q', row, unset.changes));
    for (const path of Object.keys(named))
      if (path !== 'name') assert.deepEqual(left[path], unsetFields[path], path);
  }
});

test('the row of an empty QOS has no field but those that Slurm always has', () => {
  assert.deepEqual(rowFields(emptyQos('q')), { name: 'q', ...unsetFields });
});
