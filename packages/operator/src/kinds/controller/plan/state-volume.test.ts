import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantityNumber } from '@slurm-operator/kubernetes-values';
import fc from 'fast-check';
import { planStateVolume, type StateClaim, type StateVolume } from './state-volume.ts';

const of = (storage: string, over: object = {}) => ({
  accessModes: ['ReadWriteOnce' as const],
  resources: { requests: { storage } },
  ...over,
});
const claim = (requested: string, over: Partial<StateClaim> = {}): StateClaim => ({
  name: 'statesave-slurm-controller-0',
  uid: 'u',
  requested,
  capacity: requested,
  bound: true,
  message: undefined,
  ...over,
});
const volume = (created: string, claims: readonly StateClaim[], over: object = {}): StateVolume => ({
  // As the API server stores it.
  template: of(created, { volumeMode: 'Filesystem', ...over }),
  names: ['statesave-slurm-controller-0'],
  claims,
});
const reasons = (plan: ReturnType<typeof planStateVolume>) => plan.problems.map(({ reason }) => reason);

test('an unchanged volume asks for nothing, in whatever way its size is written', () => {
  for (const size of ['4Gi', '4096Mi', '4294967296'])
    assert.deepEqual(planStateVolume(of(size), volume('4Gi', [claim('4Gi')])), { resize: [], problems: [] });
});

test('a claim is enlarged once it is bound, and the condition says so until the storage has done it', () => {
  const wanted = of('10Gi');
  const plan = planStateVolume(wanted, volume('4Gi', [claim('4Gi')]));
  assert.deepEqual(plan.resize, [{ name: 'statesave-slurm-controller-0', uid: 'u', size: '10Gi' }]);
  assert.deepEqual(reasons(plan), ['VolumeResizing']);
  const unbound = planStateVolume(
    wanted,
    volume('4Gi', [claim('4Gi', { bound: false, capacity: undefined })]),
  );
  assert.deepEqual([unbound.resize, reasons(unbound)], [[], ['VolumeResizing']]);
  const underway = planStateVolume(
    wanted,
    volume('4Gi', [claim('10Gi', { capacity: '4Gi', message: 'waiting for the file system' })]),
  );
  assert.deepEqual(underway.resize, []);
  assert.match(underway.problems[0]?.message ?? '', /from 4Gi to 10Gi\. waiting for the file system/);
  assert.deepEqual(planStateVolume(wanted, volume('4Gi', [claim('10Gi')])), { resize: [], problems: [] });
});

test('a claim that does not exist or lacks its labels is named', () => {
  const plan = planStateVolume(of('10Gi'), volume('4Gi', []));
  assert.match(plan.problems[0]?.message ?? '', /statesave-slurm-controller-0 cannot be enlarged to 10Gi/);
});

test('what cannot change is named with its value, the one it was created with, and what to do', () => {
  const plan = planStateVolume(
    of('4Gi', { storageClassName: 'fast' }),
    volume('4Gi', [claim('4Gi')], { storageClassName: 'standard' }),
  );
  assert.deepEqual(plan.resize, []);
  assert.match(
    plan.problems[0]?.message ?? '',
    /spec\.persistence\.storageClassName is "fast".*"standard".*revert it/,
  );
  const removed = planStateVolume(of('4Gi'), volume('4Gi', [claim('4Gi')], { storageClassName: 'standard' }));
  assert.match(removed.problems[0]?.message ?? '', /storageClassName is not set/);
});

test('what Kubernetes fills in is no difference', () => {
  const source = { kind: 'PersistentVolumeClaim', name: 'old' };
  const wanted = of('4Gi', { dataSource: source });
  const stored = volume('4Gi', [claim('4Gi')], { dataSource: source, dataSourceRef: source });
  assert.deepEqual(planStateVolume(wanted, stored).problems, []);
});

test('a smaller size is refused, except where it is the one of the creation', () => {
  const shrunk = planStateVolume(of('5Gi'), volume('4Gi', [claim('10Gi')]));
  assert.match(shrunk.problems[0]?.message ?? '', /"5Gi".*has 10Gi: a volume cannot shrink/);
  assert.deepEqual(planStateVolume(of('4Gi'), volume('4Gi', [claim('10Gi')])).problems, []);
});

test('a claim is only ever asked to grow, and nothing about a volume keeps slurmctld from being ready', () => {
  const size = fc.integer({ min: 1, max: 20 }).map((count) => `${count}Gi`);
  const name = fc.option(fc.constantFrom('a', 'b'), { nil: undefined });
  fc.assert(
    fc.property(size, size, size, fc.boolean(), name, name, (wanted, created, has, bound, now, then) => {
      const plan = planStateVolume(
        of(wanted, now === undefined ? {} : { storageClassName: now }),
        volume(created, [claim(has, { bound })], then === undefined ? {} : { storageClassName: then }),
      );
      for (const { size: asked } of plan.resize)
        assert.ok(bound && quantityNumber(asked) > quantityNumber(has));
      assert.ok(plan.problems.every(({ stillReady }) => stillReady === true));
      assert.equal(
        plan.problems.some(({ message }) => message.includes('storageClassName')),
        now !== then,
      );
    }),
  );
});
