import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { aController } from '../../testing/objects.ts';
import { type KeyHolder, planKeyRotation, type RotationInput } from './key-rotation.ts';
import { daemonHash, type KeySet, loginHash } from './key-set.ts';

const set = (keys: readonly string[], signing: string, used = true): KeySet => ({
  keys,
  signing,
  since: 0,
  used,
});
const ctld = (hash: string, over: Partial<KeyHolder> = {}): KeyHolder => ({
  name: 'slurm-controller-0',
  role: 'slurmctld',
  hash,
  running: true,
  ...over,
});
const worker = (hash: string, over: Partial<KeyHolder> = {}): KeyHolder => ({
  ...ctld(hash),
  name: 'w-0',
  role: 'worker',
  scheduled: true,
  read: hash,
  ...over,
});
const input = (over: Partial<RotationInput>): RotationInput => ({
  controller: aController(),
  desired: 'b',
  current: set(['a'], 'a'),
  holders: [ctld('a'), worker('a')],
  wanted: { slurmctld: 1, slurmdbd: 0, login: 0 },
  exists: true,
  stepPeriod: 60_000,
  now: 1_000_000,
  ...over,
});
const next = (over: Partial<RotationInput>) => {
  const { write, keySet, waiting } = planKeyRotation(input(over));
  return { write: write ? [keySet?.keys.join(), keySet?.signing] : undefined, waiting };
};
const accept = set(['a', 'b'], 'a');
const sign = set(['a', 'b'], 'b');
const all = (hash: string) => [ctld(hash), worker(hash)];

test('the steps of a change: accept both, sign with the new one, drop the old one', () => {
  assert.deepEqual(next({ desired: 'a' }), { write: undefined, waiting: undefined });
  assert.deepEqual(next({}).write, ['a,b', 'a']);
  assert.deepEqual(next({ current: accept, holders: all(daemonHash(accept)) }).write, ['a,b', 'b']);
  assert.deepEqual(next({ current: sign, holders: all(daemonHash(sign)) }).write, ['b', 'b']);
});

test('another change in the middle: back to the old key, to a third one, or the present change first', () => {
  const holders = all(daemonHash(accept));
  assert.deepEqual(next({ current: accept, holders, desired: 'a' }).write, ['a', 'a']);
  assert.deepEqual(next({ current: accept, holders, desired: 'c' }).write, ['a,c', 'a']);
  assert.deepEqual(next({ current: sign, holders: all(daemonHash(sign)), desired: 'c' }).write, ['b', 'b']);
});

test('without keys in force, or before slurmctld ever responded, the key is taken at once', () => {
  const first = planKeyRotation(input({ current: undefined, exists: false })).keySet;
  assert.deepEqual([first?.keys, first?.used], [['b'], false]);
  assert.equal(planKeyRotation(input({ current: undefined })).keySet?.used, true, 'of an older operator');
  const unused = set(['a'], 'a', false);
  assert.deepEqual(next({ current: unused }).write, ['b', 'b']);
  assert.deepEqual(next({ current: unused, desired: 'a' }).write, undefined);
  const responds = [ctld('a', { ready: true }), worker('a')];
  const seen = planKeyRotation(input({ current: unused, holders: responds })).keySet;
  assert.deepEqual([seen?.keys, seen?.used], [['a'], true], 'first it is noted that jobs may run');
  assert.deepEqual(next({ desired: '' }), { write: undefined, waiting: undefined });
});

const both = daemonHash(accept);
for (const { reason, holders, wanted, current = accept, says } of [
  {
    reason: 'a worker that was not notified',
    holders: [ctld(both), worker('x')],
    says: /pod w-0, which has older keys/,
  },
  {
    reason: 'a worker that did not report that it read the keys',
    holders: [ctld(both), worker(both, { read: 'a' })],
    says: /pod w-0: its slurmd has not reported that it read the keys/,
  },
  {
    reason: 'a worker whose log cannot be read',
    holders: [ctld(both), worker(both, { read: undefined, unreadable: 'the operator may not read logs' })],
    says: /pod w-0: .*\(the operator may not read logs\)/,
  },
  {
    reason: 'a worker on a lost node',
    holders: [ctld(both), worker(both, { lostWith: 'rack-1' })],
    says: /its node rack-1 does not respond/,
  },
  {
    reason: 'a worker of an older operator',
    holders: [ctld(both), worker(both, { hasOneKey: true })],
    says: /it can read one key only/,
  },
  {
    reason: 'a slurmctld that has older keys',
    holders: [ctld(both), ctld('a', { name: 'slurm-controller-1' }), worker(both)],
    says: /pod slurm-controller-1, which has older keys/,
  },
  {
    reason: 'a standby that does not exist yet',
    holders: [ctld(both), worker(both)],
    wanted: { slurmctld: 2, slurmdbd: 0, login: 0 },
    says: /pods of slurmctld: 1 of 2 exist/,
  },
  {
    reason: 'the only slurmctld while its pod is replaced',
    holders: [worker(both)],
    says: /pods of slurmctld: 0 of 1 exist/,
  },
  {
    reason: 'a slurmctld that does not run',
    holders: [ctld(both, { running: false }), worker(both)],
    says: /pod slurm-controller-0, which does not run/,
  },
  {
    reason: 'slurmdbd without a pod',
    holders: [ctld(both), worker(both)],
    wanted: { slurmctld: 1, slurmdbd: 1, login: 0 },
    says: /pods of slurmdbd: 0 of 1 exist/,
  },
  {
    reason: 'a login node that does not run',
    holders: [
      ctld(both),
      worker(both),
      ctld(loginHash(accept), { name: 'login-1', role: 'login', running: false }),
    ],
    wanted: { slurmctld: 1, slurmdbd: 0, login: 1 },
    says: /pod login-1, which does not run/,
  },
  {
    reason: 'daemons that the operator does not see',
    holders: [ctld(both), worker(both)],
    current: { ...accept, since: 990_000 },
    says: /daemons that the operator does not see, which have until 00:17:30 UTC/,
  },
] as const)
  test(`the next step waits for ${reason}, and a person can force it`, () => {
    const given = { current, holders, ...(wanted === undefined ? {} : { wanted }) };
    const { write, waiting } = next(given);
    assert.equal(write, undefined);
    assert.match(waiting ?? '', says);
    assert.match(waiting ?? '', /^Change of slurm.key, step 1 of 3/);
    const command = /kubectl annotate controller slurm -n hpc --overwrite (\S+)=(\S+)$/.exec(waiting ?? '');
    assert.equal(command?.[1], annotation.forceKey);
    const annotations = { [command?.[1] ?? '']: command?.[2] ?? '' };
    const forced = next({ ...given, controller: aController({}, { annotations }) });
    assert.deepEqual(forced.write, ['a,b', 'b']);
  });

test('daemons that the operator does not see have --key-step-period for each step', () => {
  const given = { current: { ...accept, since: 990_000 }, holders: all(both) };
  assert.match(next({ ...given, stepPeriod: 120_000 }).waiting ?? '', /until 00:18:30 UTC/);
  assert.deepEqual(next({ ...given, stepPeriod: 10_000 }).write, ['a,b', 'b']);
});

test('a worker without a node, or whose slurmd does not run, does not hold the change: it starts with the keys in force', () => {
  const idle = { read: undefined, running: false };
  const holders = [ctld(both), worker(both, { ...idle, scheduled: false }), worker(both, idle)];
  assert.deepEqual(next({ current: accept, holders }).write, ['a,b', 'b']);
});

test('a change begins although workers did not report the last step of the one before', () => {
  assert.deepEqual(next({ holders: [ctld('a'), worker('a', { read: undefined })] }).write, ['a,b', 'a']);
});
