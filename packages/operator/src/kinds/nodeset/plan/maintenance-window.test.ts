/** A reservation is recorded before it is created, so that a crash between the two writes leaks none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import type { Condition } from '../../../framework/status/conditions.ts';
import { lateWriteMs, planWindow, type RecordedReservation, type WindowPlan } from './maintenance-window.ts';

const began = Date.parse('2026-01-01T00:00:00Z');
type Strategy = 'ScheduledUpdate' | 'RollingUpdate';

class Stage {
  readonly reservations = new Set<string>();
  status: { conditions?: Condition[]; reservation?: RecordedReservation } = {};
  now = began;
  /** As the operator remembers it between two reconciles. */
  askedAt: number | undefined;

  plan(type: Strategy, { isUnknown = false, deleting = false } = {}): WindowPlan {
    const nodeSet = {
      metadata: { name: 'w', namespace: 'slurm', ...(deleting ? { deletionTimestamp: 'now' } : {}) },
      spec: {
        replicas: 1,
        scalingMode: 'StatefulSet',
        updateStrategy: { type, scheduledUpdate: { startTime: '2026-01-01T01:00:00Z', duration: '1h' } },
      },
      status: this.status,
    } as unknown as NodeSet;
    const [name] = this.reservations;
    const startsAt = Date.parse('2026-01-01T01:00:00Z');
    const reservation =
      name === undefined ? undefined : { name, startsAt, endsAt: undefined, nodes: new Set(['w-0']) };
    return planWindow(
      nodeSet,
      isUnknown ? { kind: 'unknown', why: 'timeout' } : { kind: 'known', reservation },
      ['w-0'],
      this.now,
      this.askedAt,
    );
  }

  /** Carries it out; a crash comes before the status is written. */
  carryOut({ actions, condition, record, askedAt }: WindowPlan, { crash = false } = {}): void {
    this.askedAt = crash ? undefined : askedAt;
    for (const action of actions) {
      if (action.type === 'NoteReservation')
        this.status = { conditions: [action.condition], reservation: action.record };
      else if (action.type === 'WriteReservation') this.reservations.add(action.write.name ?? '');
      else this.reservations.delete(action.name);
    }
    if (!crash)
      this.status = { ...(condition && { conditions: [condition] }), ...(record && { reservation: record }) };
  }

  reconcile(type: Strategy): void {
    this.carryOut(this.plan(type));
  }

  crash(): void {
    this.carryOut(this.plan('ScheduledUpdate'), { crash: true });
  }

  get reason(): string | undefined {
    return this.status.conditions?.[0]?.reason;
  }
}

test('a reservation whose operator crashed is removed when it is no longer requested', () => {
  const stage = new Stage();
  stage.crash();
  assert.equal(stage.reservations.size, 1);
  stage.reconcile('RollingUpdate');
  assert.equal(stage.reservations.size, 0);
  assert.equal(stage.status.reservation, undefined);
});

test('a recorded reservation that Slurm does not have is not deleted there', () => {
  const stage = new Stage();
  stage.crash();
  stage.reservations.clear();
  stage.reconcile('RollingUpdate');
  stage.now += lateWriteMs;
  const plan = stage.plan('RollingUpdate');
  assert.deepEqual(plan.actions, []);
  assert.equal(plan.condition?.reason, 'NotExists');
  assert.equal(plan.keepsFinalizer, false);
});

test('a request that slurmrestd carries out after its operator was killed leaves no reservation', () => {
  for (const deleting of [false, true]) {
    const stage = new Stage();
    stage.crash();
    // slurmctld was away: slurmrestd still repeats the request.
    const [name = ''] = stage.reservations;
    stage.reservations.clear();
    stage.carryOut(stage.plan('RollingUpdate', { deleting }));
    stage.now += 60_000;
    const waits = stage.plan('RollingUpdate', { deleting });
    assert.equal(waits.keepsFinalizer, true);
    assert.equal(waits.record?.created, false);
    assert.ok((waits.wakeAt ?? Number.POSITIVE_INFINITY) < stage.now + 60_000, 'Slurm is asked again');
    stage.carryOut(waits);
    stage.reservations.add(name);
    stage.carryOut(stage.plan('RollingUpdate', { deleting }));
    assert.deepEqual([...stage.reservations], []);
  }
});

test('a request that is repeated is waited for from its last time', () => {
  const stage = new Stage();
  stage.carryOut(stage.plan('ScheduledUpdate'), { crash: true });
  stage.reservations.clear();
  stage.now += lateWriteMs - 1_000;
  const again = stage.plan('ScheduledUpdate');
  assert.equal(again.askedAt, stage.now);
  stage.askedAt = again.askedAt;
  stage.now += lateWriteMs - 1_000;
  assert.equal(stage.plan('RollingUpdate').keepsFinalizer, true);
});

test('a reservation of this window that the status does not record is recorded', () => {
  const stage = new Stage();
  stage.reconcile('ScheduledUpdate');
  stage.status = {};
  stage.reconcile('ScheduledUpdate');
  assert.equal(stage.status.reservation?.created, true);
  stage.reconcile('RollingUpdate');
  assert.equal(stage.reservations.size, 0);
});

test('one that is still requested is taken over', () => {
  const stage = new Stage();
  stage.crash();
  stage.reconcile('ScheduledUpdate');
  assert.equal(stage.reservations.size, 1);
  assert.equal(stage.reason, 'Created');
  assert.equal(stage.status.reservation?.created, true);
});

test('a crash before it was created costs nothing: it is created then', () => {
  const stage = new Stage();
  stage.crash();
  stage.reservations.clear();
  stage.reconcile('ScheduledUpdate');
  assert.equal(stage.reservations.size, 1);
});

test('the write of a reservation needs its record', () => {
  const { actions } = new Stage().plan('ScheduledUpdate');
  assert.deepEqual(
    actions.map(({ type, needs = [] }) => [type, needs.length]),
    [
      ['NoteReservation', 0],
      ['WriteReservation', 1],
    ],
  );
});

test('while Slurm does not answer, the record and the finalizer stay', () => {
  const stage = new Stage();
  assert.equal(stage.plan('ScheduledUpdate', { isUnknown: true }).condition?.reason, 'SlurmUnknown');
  stage.reconcile('ScheduledUpdate');
  const { actions, record, condition, keepsFinalizer } = stage.plan('ScheduledUpdate', {
    isUnknown: true,
    deleting: true,
  });
  assert.deepEqual(
    [actions, record, condition?.reason, keepsFinalizer],
    [[], stage.status.reservation, 'Created', true],
  );
});

test('a condition of an older operator, without a record, stands for the window that is requested now', () => {
  const stage = new Stage();
  stage.reconcile('ScheduledUpdate');
  stage.status = { conditions: stage.status.conditions ?? [] };
  stage.reservations.clear();
  assert.deepEqual(stage.plan('ScheduledUpdate').actions, [], 'it was used: it is not created again');
  assert.equal(stage.plan('RollingUpdate').condition?.reason, 'NotExists');
});
