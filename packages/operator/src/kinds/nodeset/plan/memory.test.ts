import assert from 'node:assert/strict';
import { test } from 'node:test';
import { now, worker } from '../../../../testing/observed.ts';
import type { SlurmView, Worker } from '../model/observed.ts';
import {
  backoffOf,
  emptyMemory,
  type NodeSetMemory,
  type Note,
  restAfter,
  restLeft,
  withNotes,
  withObservation,
} from './memory.ts';

const minutes = (count: number) => count * 60_000;
const unknown: SlurmView = { kind: 'unknown', since: 0, why: '' };
const listed = (at: number): SlurmView => ({
  kind: 'known',
  at,
  nodes: new Map(),
  jobsUnknown: undefined,
  controllerStartedAt: 0,
});
const observe = (memory: NodeSetMemory, workers: Worker[], slurm: SlurmView = unknown, at = now) =>
  withObservation(memory, { workers, slurm }, at);
const refused = (topology: string | undefined, slurmName = 'w-0'): Note => ({
  type: 'refused',
  slurmName,
  topology,
  message: 'Invalid topology',
  at: now,
});
const accepted = (topology?: string): Note => ({
  type: 'done',
  action: { kind: 'update-node', slurmName: 'w-0', ...(topology === undefined ? {} : { topology }) },
});
const wrote = (at: number): Note => ({ type: 'wrote', slurmName: 'w-0', at });
const waits = (memory: NodeSetMemory) => ((memory.refusals.get('w-0')?.until ?? now) - now) / minutes(1);

test('an update that Slurm refuses is retried after 1, 2, 4, 8 and then every 15 minutes', () => {
  let memory = emptyMemory;
  const seen = [1, 2, 3, 4, 5, 6].map(() => {
    memory = withNotes(memory, [refused('topo:nowhere')]);
    return waits(memory);
  });
  assert.deepEqual(seen, [1, 2, 4, 8, 15, 15]);
  assert.equal(waits(withNotes(memory, [refused('topo:elsewhere')])), 1, 'another topology starts again');
});

test('a refusal ends with the success of what was refused, not with that of the rest', () => {
  const memory = withNotes(emptyMemory, [refused('topo:nowhere')]);
  const rest = withNotes(memory, [accepted()]);
  assert.equal(rest.refusals.size, 1, 'the comment was taken, the topology was not asked for');
  assert.equal(withNotes(rest, [accepted('topo:rack1')]).refusals.size, 0);
  assert.equal(withNotes(emptyMemory, [refused(undefined), accepted()]).refusals.size, 0);
});

test('the refusals of workers that are gone are forgotten', () => {
  const memory = withNotes(emptyMemory, [refused('a', 'w-0'), refused('a', 'w-1')]);
  assert.deepEqual([...observe(memory, [worker(1)]).refusals.keys()], ['w-1']);
});

test('a slot whose pods fail is filled after 1, 2, 4 … seconds, each pod counted once; a ready one clears it', () => {
  let memory = emptyMemory;
  const fail = (uid: string) => {
    memory = observe(memory, [worker(0, { uid, phase: 'Failed', ready: false })]);
    return ((backoffOf(memory).get('ordinal/0') ?? now) - now) / 1000;
  };
  assert.deepEqual(['a', 'a', 'b', 'c'].map(fail), [1, 1, 2, 4]);
  assert.equal(Array.from({ length: 20 }, (_, at) => fail(`x${at}`)).at(-1), 15 * 60);
  memory = observe(memory, [worker(0)]);
  assert.equal(backoffOf(memory).size, 0);
  assert.equal(fail('d'), 1, 'and begins again');
});

test('a write is remembered until a list that began after it', () => {
  const memory = withNotes(emptyMemory, [wrote(now)]);
  assert.equal(
    observe(memory, [], listed(now)).lastWrites.get('w-0'),
    now,
    'a list of the same moment may not show it',
  );
  assert.equal(observe(memory, [], unknown).lastWrites.size, 1);
  assert.equal(observe(memory, [], listed(now + 1)).lastWrites.size, 0);
});

test('thousands of workers are not observed again at once; a small set always is', () => {
  const left = (workers: number, later = 0) =>
    restLeft({ ...emptyMemory, restUntil: restAfter(workers, now) }, now + later);
  assert.equal(restLeft(emptyMemory, now), 0, 'the first time');
  assert.equal(left(499), 0);
  assert.equal(left(5_000), 250);
  assert.equal(left(5_000, 100), 150);
  assert.equal(left(5_000, 250), 0);
  assert.equal(left(1_000_000), 500, 'never longer');
  assert.equal(left(5_000, -minutes(60)), 0, 'a clock that is set back ends it');
});

test('of two writes of a node the later one counts, also where it lies ahead', () => {
  const memory = withNotes(emptyMemory, [wrote(now + 30_000), wrote(now + 1_000)]);
  assert.equal(observe(memory, [], listed(now + 2_000)).lastWrites.get('w-0'), now + 30_000);
  assert.equal(observe(memory, [], listed(now + 30_001)).lastWrites.size, 0);
});

test('a write lies no further ahead than it may take effect, whatever the clock did', () => {
  const memory = withNotes(emptyMemory, [wrote(now)]);
  const hourBefore = now - minutes(60);
  assert.equal(observe(memory, [], listed(hourBefore), hourBefore).lastWrites.get('w-0'), hourBefore);
});
