import assert from 'node:assert/strict';
import { test } from 'node:test';
import { now, worker } from '../../../testing/observed.ts';
import { NodeSetMemory } from './memory.ts';

const minutes = (count: number) => count * 60_000;
const waits = (memory: NodeSetMemory) => ((memory.refusals.get('w-0')?.until ?? now) - now) / minutes(1);

test('what Slurm refuses is asked for again after 1, 2, 4, 8 and then every 15 minutes', () => {
  const memory = new NodeSetMemory('uid');
  const seen = [1, 2, 3, 4, 5, 6].map(() => {
    memory.refused('w-0', 'topo:nowhere', 'Invalid topology', now);
    return waits(memory);
  });
  assert.deepEqual(seen, [1, 2, 4, 8, 15, 15]);
  memory.refused('w-0', 'topo:elsewhere', 'Invalid topology', now);
  assert.equal(waits(memory), 1, 'another topology is another matter');
});

test('a refusal ends with the success of what was refused, not with that of the rest', () => {
  const memory = new NodeSetMemory('uid');
  memory.refused('w-0', 'topo:nowhere', 'Invalid topology', now);
  memory.accepted('w-0', undefined);
  assert.equal(memory.refusals.size, 1, 'the comment was taken, the topology was not asked for');
  memory.accepted('w-0', 'topo:rack1');
  assert.equal(memory.refusals.size, 0);
  memory.refused('w-0', undefined, 'Invalid feature', now);
  memory.accepted('w-0', undefined);
  assert.equal(memory.refusals.size, 0);
});

test('the refusals of workers that are gone are forgotten', () => {
  const memory = new NodeSetMemory('uid');
  for (const name of ['w-0', 'w-1']) memory.refused(name, 'topo:nowhere', 'Invalid topology', now);
  memory.forgetRefusalsOfOthers([worker(1)]);
  assert.deepEqual([...memory.refusals.keys()], ['w-1']);
});

test('a slot whose pods fail is filled after 1, 2, 4 … seconds, each pod counted once; one that is ready clears it', () => {
  const memory = new NodeSetMemory('uid');
  const fail = (uid: string) => {
    memory.noticeFailures([worker(0, { uid, phase: 'Failed', ready: false })], now);
    return ((memory.backoff.get('ordinal/0') ?? now) - now) / 1000;
  };
  assert.deepEqual(['a', 'a', 'b', 'c'].map(fail), [1, 1, 2, 4]);
  assert.equal(Array.from({ length: 20 }, (_, at) => fail(`x${at}`)).at(-1), 15 * 60);
  memory.noticeFailures([worker(0)], now);
  assert.equal(memory.backoff.size, 0);
  assert.equal(fail('d'), 1, 'and begins again');
});

test('a write is remembered until a list that began after it', () => {
  const memory = new NodeSetMemory('uid');
  memory.wrote('w-0', now);
  memory.settle(now);
  assert.equal(memory.lastWrites.get('w-0'), now, 'a list of the same moment may not show it');
  memory.settle(now + 1);
  assert.equal(memory.lastWrites.size, 0);
});

test('thousands of workers are not looked at again at once; a small set always is', () => {
  const memory = new NodeSetMemory('set');
  const restAfter = (workers: number) => {
    memory.looked(1_000, workers);
    return memory.restLeft(1_000);
  };
  assert.equal(memory.restLeft(0), 0, 'the first look');
  assert.equal(restAfter(499), 0);
  assert.equal(restAfter(5_000), 250);
  assert.equal(memory.restLeft(1_100), 150);
  assert.equal(memory.restLeft(1_250), 0);
  assert.equal(restAfter(1_000_000), 500, 'nobody waits longer');
});

test('of two changes of a node the later one counts, also where it lies ahead', () => {
  const memory = new NodeSetMemory('uid');
  memory.wrote('w-0', 30_000);
  memory.wrote('w-0', 1_000);
  memory.settle(2_000);
  assert.equal(memory.lastWrites.get('w-0'), 30_000);
  memory.settle(30_001);
  assert.equal(memory.lastWrites.get('w-0'), undefined);
});

test('a change of ours lies no further ahead than it may happen, whatever the clock did', () => {
  const memory = new NodeSetMemory('uid');
  memory.wrote('w-0', now);
  const hourBefore = now - minutes(60);
  memory.settle(hourBefore, hourBefore);
  assert.equal(memory.lastWrites.get('w-0'), hourBefore);
});
