/** Who must go: rollouts, their budget, and workers that Slurm does not know. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { Observed, Worker } from '../model/observed.ts';
import { nodeSetStatus } from '../status/status.ts';
import { lossGrace, lossPatience, registrationGrace } from './lost-state.ts';
import { planWorkers } from './plan-workers.ts';
import { controllerWarmup } from './removals.ts';

const busy = { base: 'ALLOCATED' as const, deadline: now + 60_000 };

test('upstream item 4 and law L10: unregistered workers are replaced late, few, and never all', () => {
  const three = [worker(0), worker(1), worker(2)];
  const one = observed(three, [slurmNode(0), slurmNode(1)]);
  assert.deepEqual(
    planWorkers(one, now).toRemove.map((each) => each.name),
    ['w-2'],
  );
  const young = {
    ...one,
    slurm: { ...one.slurm, controllerStartedAt: now - controllerWarmup + 1 },
  } as Observed;
  assert.deepEqual(planWorkers(young, now).toRemove, []);
  const fresh = observed(
    [worker(0), worker(1), worker(2, { readySince: now - registrationGrace + 5 })],
    [slurmNode(0), slurmNode(1)],
  );
  assert.deepEqual(planWorkers(fresh, now).toRemove, []);
  assert.equal(planWorkers(fresh, now).wakeAt, now + 5, 'and the plan knows when to look again');
  const lost = planWorkers(observed(three, []), now);
  assert.deepEqual([lost.toRemove, lost.hasUnregistered], [[], true]);
});

test('a broken image stops a rollout at its budget (law L3)', () => {
  const workers = [
    worker(0, { revision: 'r0' }),
    worker(1, { revision: 'r0' }),
    worker(2, { revision: 'r1', ready: false, readySince: undefined, phase: 'Pending', everStarted: false }),
  ];
  const made = planWorkers(observed(workers, [slurmNode(0), slurmNode(1)]), now);
  assert.deepEqual(made.toRemove, [], 'the one new worker that is not ready uses up the budget');
});

test('partition, pause, hold and OnDelete keep old workers', () => {
  const old = [worker(0, { revision: 'r0' }), worker(1, { revision: 'r0' })];
  const nodes = [slurmNode(0), slurmNode(1)];
  const update = {
    type: 'RollingUpdate',
    maxUnavailable: 2,
    partition: 0,
    paused: false,
    reservation: undefined,
  } as const;
  const going = (over: Partial<Observed>) =>
    planWorkers(observed(old, nodes, over), now).toRemove.map((each) => each.name);
  assert.deepEqual(going({ update }).toSorted(), ['w-0', 'w-1']);
  assert.deepEqual(going({ update: { ...update, partition: 1 } }), ['w-1']);
  assert.deepEqual(going({ update: { ...update, paused: true } }), []);
  assert.deepEqual(going({ update: { ...update, type: 'OnDelete' } }), []);
  assert.deepEqual(going({ update, updateHeld: 'slurmctld is older than the new slurmd' }), []);
});

test('a scheduled update waits for its window, then takes all at once', () => {
  const old = [worker(0, { revision: 'r0' }), worker(1, { revision: 'r0' })];
  const update = {
    type: 'ScheduledUpdate',
    maxUnavailable: 1,
    partition: 0,
    paused: false,
    reservation: 'maint',
  } as const;
  const inWindow = { flags: new Set(['MAINTENANCE']), reservation: 'maint' };
  assert.deepEqual(planWorkers(observed(old, [slurmNode(0), slurmNode(1)], { update }), now).toRemove, []);
  assert.equal(
    planWorkers(observed(old, [slurmNode(0, inWindow), slurmNode(1, inWindow)], { update }), now).toRemove
      .length,
    2,
  );
  const other = { ...inWindow, reservation: 'of-a-user' };
  assert.deepEqual(
    planWorkers(observed(old, [slurmNode(0, other), slurmNode(1, other)], { update }), now).toRemove,
    [],
  );
});

test('what an unreachable machine last reported makes no worker of it replaceable', () => {
  const stale = { revision: 'r0', ready: false, readySince: undefined };
  const toRemove = (over: Partial<Worker>, more: Partial<Observed> = {}) =>
    planWorkers(
      observed([worker(0, { ...stale, ...over }), worker(1)], [slurmNode(0, busy), slurmNode(1)], more),
      now,
    ).toRemove.map((one) => one.name);
  assert.deepEqual(toRemove({}), ['w-0'], 'not ready and outdated: replacing it takes nothing away');
  assert.deepEqual(toRemove({ nodeReachable: false }), [], 'it may be ready and have jobs');
  const otherMode = { slot: { mode: 'DaemonSet', nodeName: 'n0' } as const };
  assert.deepEqual(toRemove({ ...otherMode, nodeReachable: false }, { replicas: 1 }), []);
});

test('upstream item 17: a worker with an old sssd.conf is replaced like one of an old revision; of a new key it is told instead', () => {
  const note = 'slinky.slurm.net/sssd-conf-hash';
  const keyed = (ordinal: number, hash: string) => worker(ordinal, { hashes: { [note]: hash } });
  const toRemove = (workers: Worker[], over: Partial<Observed> = {}) =>
    planWorkers(
      observed(
        workers,
        workers.map((_, at) => slurmNode(at)),
        { hashes: { [note]: 'new' }, ...over },
      ),
      now,
    ).toRemove.map((one) => one.name);
  assert.deepEqual(toRemove([keyed(0, 'new'), keyed(1, 'new')]), []);
  assert.deepEqual(toRemove([keyed(0, 'old'), keyed(1, 'old')]), ['w-1'], 'one at a time: the budget is one');
  assert.deepEqual(
    toRemove([worker(0), worker(1)]),
    [],
    'a worker that does not say has none that is known to be old',
  );
  assert.deepEqual(
    toRemove([keyed(0, 'old')], { hashes: {} }),
    [],
    'a missing Secret makes no worker outdated',
  );
  const paused = { ...observed([], []).update, paused: true };
  assert.deepEqual(toRemove([keyed(0, 'old')], { update: paused }), [], 'a paused rollout removes no worker');
  const key = 'slinky.slurm.net/slurm-key-hash';
  const oldKey = worker(0, { hashes: { [key]: 'old' } });
  assert.deepEqual(
    toRemove([oldKey], { hashes: { [key]: 'new' } }),
    [],
    'a drain could not end with an old key',
  );
});

test('upstream item 24: what is broken and what is only old go in one plan, and are counted together', () => {
  const workers = [
    worker(0, { revision: 'r0', ready: false, readySince: undefined }),
    worker(1, { revision: 'r0' }),
    worker(2, { revision: 'r0' }),
    worker(3),
  ];
  const update = { ...observed([], []).update, maxUnavailable: 2 };
  const made = planWorkers(
    observed(
      workers,
      workers.map((_, at) => slurmNode(at)),
      { update },
    ),
    now,
  );
  assert.deepEqual(
    made.toRemove.map((one) => one.name).toSorted(),
    ['w-0', 'w-2'],
    'one is missing anyway, one more may go',
  );
});

test('law L10: of two workers that Slurm does not know one is replaced: two are too few to call slurmctld forgetful', () => {
  const names = (workers: Worker[]) =>
    planWorkers(observed(workers, []), now).toRemove.map((one) => one.name);
  assert.deepEqual(names([worker(0), worker(1)]), ['w-1']);
  assert.deepEqual(names([worker(0), worker(1), worker(2)]), []);
});

test('a scheduled update does not wait for its window for a worker that is not available', () => {
  const update = { ...observed([], []).update, type: 'ScheduledUpdate', reservation: 'maint' } as const;
  const workers = [
    worker(0, { revision: 'r0', ready: false, readySince: undefined }),
    worker(1, { revision: 'r0' }),
  ];
  const made = planWorkers(observed(workers, [slurmNode(0), slurmNode(1)], { update }), now);
  assert.deepEqual(
    made.toRemove.map((one) => one.name),
    ['w-0'],
  );
});

test('a worker whose containers have just ended is left to the kubelet, which starts them again', () => {
  const ended = { ready: false, readySince: undefined, containersDead: true, endedAt: now - 1_000 };
  const made = planWorkers(observed([worker(0, ended), worker(1)], [slurmNode(0), slurmNode(1)]), now);
  assert.deepEqual(made.toRemove, []);
  assert.equal(made.wakeAt, now + 59_000, 'and looked at again when that should have happened');
});

test('a worker whose containers have ended and are not started again is replaced', () => {
  const dead = worker(0, {
    ready: false,
    readySince: undefined,
    containersDead: true,
    endedAt: now - 60_000,
  });
  const made = planWorkers(observed([dead, worker(1)], [slurmNode(0), slurmNode(1)]), now);
  assert.deepEqual(
    made.toRemove.map((one) => one.name),
    ['w-0'],
  );
});

describe('law L10: a slurmctld that lost its state', () => {
  const workers = [0, 1, 2, 3].map((ordinal) => worker(ordinal));
  const startedAt = now - lossGrace;
  const given = (known: number[], over: Partial<Observed> = {}, from = workers): Observed => {
    const all = observed(
      from,
      known.map((ordinal) => slurmNode(ordinal)),
      { lostSince: startedAt, ...over },
    );
    return { ...all, slurm: { ...all.slurm, controllerStartedAt: startedAt } as Observed['slurm'] };
  };
  const gone = (from: Observed, at = now) => planWorkers(from, at).toRemove.map(({ name }) => name);

  test('gets its workers back: one is replaced first, after the grace period', () => {
    assert.deepEqual(gone(given([]), now - 1), []);
    assert.equal(planWorkers(given([]), now - 1).wakeAt, now);
    assert.deepEqual(gone(given([])), ['w-3']);
  });
  test('is given time from the moment that the loss was seen', () => {
    assert.deepEqual(gone(given([], { lostSince: undefined })), []);
    assert.equal(planWorkers(given([], { lostSince: undefined }), now).wakeAt, now + lossGrace);
  });
  test('is not given more time because slurmctld was restarted or reconfigured meanwhile', () => {
    const from = given([]);
    const restarted = { ...from.slurm, controllerStartedAt: now - 6 * 60_000 } as Observed['slurm'];
    assert.deepEqual(gone({ ...from, slurm: restarted }), ['w-3']);
  });
  test('gets more at once, as many as are registered again', () => {
    const twelve = Array.from({ length: 12 }, (_, ordinal) => worker(ordinal));
    const back = [0, 1, 2].map((ordinal) => ({ ...slurmNode(ordinal) }));
    assert.equal(
      gone(
        given(
          back.map((_, ordinal) => ordinal),
          {},
          twelve,
        ),
      ).length,
      4,
    );
  });
  test('does not cost work that a worker had when Slurm last knew it', () => {
    const busyOne = worker(3, {
      deadline: now + 5_000,
      writtenDeadline: now + 5_000,
      protectedFromEviction: true,
    });
    const from = given([], {}, [...workers.slice(0, 3), busyOne]);
    assert.deepEqual(gone(from), ['w-2']);
    assert.ok(
      !planWorkers(from, now).actions.some(
        (action) => action.kind === 'patch-worker' && action.name === 'w-3',
      ),
    );
    const over = planWorkers(from, now + 5_000);
    assert.ok(over.toRemove.some(({ name }) => name === 'w-3'));
  });
  test('does not wait forever for jobs without a time limit', () => {
    const endless = { deadline: Number.POSITIVE_INFINITY, writtenDeadline: Number.POSITIVE_INFINITY };
    const from = given(
      [],
      {},
      workers.map((each) => ({ ...each, ...endless })),
    );
    assert.deepEqual(gone(from, startedAt + lossPatience - 1), []);
    assert.equal(gone(from, startedAt + lossPatience).length, 1);
  });
  test('is named in the condition, with the time until which the state can be restored', () => {
    const from = given([], { lostSince: now });
    const [ready] = nodeSetStatus(from, planWorkers(from, now), undefined, now).conditions;
    assert.equal(ready?.reason, 'NodesNotRegistered');
    assert.match(ready?.message ?? '', /does not know 4 of 4 running workers: it has lost its state/);
    assert.ok(ready?.message.includes(`before ${new Date(now + lossGrace).toISOString().slice(0, 19)}Z`));
  });
});
