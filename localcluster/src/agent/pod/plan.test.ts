import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '@slurm-operator/kube/testing';
import fc from 'fast-check';
import type { Pod } from '../../objects/objects.ts';
import { whenEnded, whenStarted } from './container-changes.ts';
import { type ContainerRecord, newRecord } from './container-record.ts';
import { backOffAfter, planPod } from './plan.ts';
import { recordsFrom } from './recover.ts';
import { phaseOf, podStatus } from './status.ts';

const pod = (spec: object = {}, status: object = {}) =>
  aPod({
    spec: { restartPolicy: 'Always', containers: [{ name: 'a' }, { name: 'b' }], ...spec },
    status,
  });
const running = (name: string, more: Partial<ContainerRecord> = {}): ContainerRecord => ({
  ...newRecord(name),
  state: { is: 'running', startedAt: 0, containerId: 'x' },
  started: true,
  ready: true,
  ...more,
});
const ended = (name: string, exitCode: number, more: Partial<ContainerRecord> = {}): ContainerRecord => ({
  ...newRecord(name),
  state: { is: 'terminated', exitCode, reason: 'x', startedAt: 0, finishedAt: 0, containerId: 'x' },
  ...more,
});
const records = (...list: ContainerRecord[]) => new Map(list.map((record) => [record.name, record]));
const starts = (of: Pod, known: ReadonlyMap<string, ContainerRecord>, now = 100) =>
  planPod(of, known, now).start.map((container) => container.name);

test('main containers start together', () => {
  assert.deepEqual(starts(pod(), records(newRecord('a'), newRecord('b'))), ['a', 'b']);
});

test('init containers go one after the other, and before everything else', () => {
  const withInits = pod({ initContainers: [{ name: 'i' }, { name: 'j' }] });
  const fresh = [newRecord('i'), newRecord('j'), newRecord('a'), newRecord('b')] as const;
  assert.deepEqual(starts(withInits, records(...fresh)), ['i']);
  assert.deepEqual(starts(withInits, records(running('i'), ...fresh.slice(1))), []);
  assert.deepEqual(starts(withInits, records(ended('i', 0), ...fresh.slice(1))), ['j']);
  assert.deepEqual(starts(withInits, records(ended('i', 0), ended('j', 0), ...fresh.slice(2))), ['a', 'b']);
  assert.deepEqual(
    starts(withInits, records(ended('i', 1), ...fresh.slice(1))),
    ['i'],
    'a failed one is tried again',
  );
  const never = pod({ restartPolicy: 'Never', initContainers: [{ name: 'i' }] });
  assert.deepEqual(starts(never, records(ended('i', 1), newRecord('a'), newRecord('b'))), []);
  assert.equal(phaseOf(never, records(ended('i', 1), newRecord('a'), newRecord('b'))), 'Failed');
});

test('a started sidecar lets the next container start, and is always restarted', () => {
  const withSidecar = pod({
    restartPolicy: 'Never',
    initContainers: [{ name: 's', restartPolicy: 'Always' }],
  });
  const mains = [newRecord('a'), newRecord('b')] as const;
  assert.deepEqual(starts(withSidecar, records(newRecord('s'), ...mains)), ['s']);
  assert.deepEqual(starts(withSidecar, records(running('s', { started: false }), ...mains)), []);
  assert.deepEqual(starts(withSidecar, records(running('s'), ...mains)), ['a', 'b']);
  assert.deepEqual(starts(withSidecar, records(ended('s', 0), running('a'), running('b'))), ['s']);
});

test('the restart policy decides about what has ended', () => {
  const both = records(ended('a', 0), ended('b', 1));
  assert.deepEqual(starts(pod(), both), ['a', 'b']);
  assert.deepEqual(starts(pod({ restartPolicy: 'OnFailure' }), both), ['b']);
  assert.deepEqual(starts(pod({ restartPolicy: 'Never' }), both), []);
});

test('a crashed container waits for its turn', () => {
  const plan = planPod(pod({ containers: [{ name: 'a' }] }), records(ended('a', 1, { notBefore: 500 })), 100);
  assert.deepEqual([plan.start.length, plan.checkAgainAt], [0, 500]);
  assert.deepEqual(
    starts(pod({ containers: [{ name: 'a' }] }), records(ended('a', 1, { notBefore: 500 })), 500),
    ['a'],
  );
});

test('the first crash costs nothing, later ones ten seconds and more, up to five minutes; calm is rewarded', () => {
  const waits: number[] = [];
  let previous: number | undefined;
  for (let crash = 0; crash < 8; crash++) {
    const { wait, next } = backOffAfter(previous, 1000);
    waits.push(wait / 1000);
    previous = next;
  }
  assert.deepEqual(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
  assert.equal(backOffAfter(300_000, 601_000).wait, 0);
});

test('phases', () => {
  const of = (spec: object, ...list: ContainerRecord[]) => phaseOf(pod(spec), records(...list));
  assert.equal(of({}, newRecord('a'), newRecord('b')), 'Pending');
  assert.equal(of({}, running('a'), newRecord('b')), 'Pending', 'not before every container has begun');
  assert.equal(of({}, running('a'), ended('b', 1)), 'Running');
  assert.equal(of({ restartPolicy: 'Never' }, ended('a', 0), ended('b', 0)), 'Succeeded');
  assert.equal(of({ restartPolicy: 'Never' }, ended('a', 0), ended('b', 2)), 'Failed');
  assert.equal(of({ restartPolicy: 'OnFailure' }, ended('a', 0), ended('b', 2)), 'Running');
});

test('a pod is Ready just when all of its containers and gates are', () => {
  const status = (of: Pod, known: ReadonlyMap<string, ContainerRecord>) =>
    podStatus({
      pod: of,
      records: known,
      hostIP: 'h',
      podIP: 'p',
      sandboxReady: true,
      now: 0,
    }).conditions?.find((entry) => entry.type === 'Ready');
  assert.equal(status(pod(), records(running('a'), running('b')))?.status, 'True');
  const unready = status(pod(), records(running('a'), running('b', { ready: false })));
  assert.deepEqual([unready?.status, unready?.message], ['False', 'containers with unready status: [b]']);
  const gated = pod({ readinessGates: [{ conditionType: 'x/y' }] });
  assert.equal(status(gated, records(running('a'), running('b')))?.reason, 'ReadinessGatesNotReady');
});

test('times of conditions move only when their status does', () => {
  const before = '2026-01-01T00:00:00Z';
  const known = pod({}, { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: before }] });
  const at = (list: ReadonlyMap<string, ContainerRecord>) =>
    podStatus({
      pod: known,
      records: list,
      hostIP: 'h',
      podIP: 'p',
      sandboxReady: true,
      now: Date.parse('2026-02-01T00:00:00Z'),
    }).conditions?.find((entry) => entry.type === 'Ready')?.lastTransitionTime;
  assert.equal(at(records(running('a'), running('b'))), before);
  assert.equal(at(records(running('a'), running('b', { ready: false }))), '2026-02-01T00:00:00Z');
});

test('after a power cut what was called running is dead, and counts as one restart when it is started again', () => {
  const before = pod(
    { containers: [{ name: 'a' }] },
    {
      containerStatuses: [
        {
          name: 'a',
          restartCount: 2,
          imageID: 'i',
          state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        },
      ],
    },
  );
  const [record] = recordsFrom(before);
  assert.equal(record?.state.is, 'terminated');
  assert.equal(record?.restarts, 2);
  assert.deepEqual(starts(before, records(record ?? newRecord('a'))), ['a']);
});

test('after a power cut the init containers run again, before the others', () => {
  const done = { exitCode: 0, reason: 'Completed', startedAt: '', finishedAt: '', containerID: 'runc://i' };
  const before = pod(
    { initContainers: [{ name: 'i' }], containers: [{ name: 'a' }] },
    {
      initContainerStatuses: [{ name: 'i', restartCount: 0, imageID: '', state: { terminated: done } }],
      containerStatuses: [{ name: 'a', restartCount: 0, imageID: '', state: { running: { startedAt: '' } } }],
    },
  );
  const [init, main] = recordsFrom(before) as [ContainerRecord, ContainerRecord];
  assert.deepEqual(starts(before, records(init, main)), ['i']);
  const run = { id: 'x', startedAt: 1, imageId: '' };
  const again = whenStarted(init, run);
  assert.equal(again.restarts, 1);
  assert.deepEqual(starts(before, records(again, main)), [], 'one after the other');
  const through = whenEnded(
    again,
    { id: 'x', startedAt: 1, finishedAt: 2 },
    { code: 0, oomKilled: false, message: '' },
  );
  assert.deepEqual(starts(before, records(through, main)), ['a']);
  assert.deepEqual(starts(before, records(through, whenStarted(main, run))), []);
  const never = { ...before, spec: { ...before.spec, restartPolicy: 'Never' } } as Pod;
  assert.deepEqual(starts(never, records(init, main)), [], 'what may not run again needs no preparation');
});

test('whatever the records, nothing that runs is started, and a pod never both initializes and starts its mains', () => {
  const anyRecord = (name: string) =>
    fc.oneof(
      fc.constant(newRecord(name)),
      fc.boolean().map((started) => running(name, { started })),
      fc.integer({ min: 0, max: 2 }).map((code) => ended(name, code)),
    );
  fc.assert(
    fc.property(
      anyRecord('i'),
      anyRecord('s'),
      anyRecord('a'),
      anyRecord('b'),
      fc.constantFrom('Always', 'OnFailure', 'Never'),
      (i, s, a, b, restartPolicy) => {
        const all = records(i, s, a, b);
        const plan = planPod(
          pod({ restartPolicy, initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }] }),
          all,
          0,
        );
        for (const container of plan.start) assert.notEqual(all.get(container.name)?.state.is, 'running');
        if (plan.initializing)
          assert.ok(plan.start.every((container) => ['i', 's'].includes(container.name)));
      },
    ),
  );
});
