import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type PoolWork, runPool } from './run-pool.ts';
import type { Lane } from './schedule.ts';

const capacity = () => ({ computing: 1, waiting: 3, preparing: 1 });

test('everything runs once, no more at a time than there is capacity for, and each tells how it went', async () => {
  const running: Record<Lane, number> = { computing: 0, waiting: 0, preparing: 0 };
  const most: Record<Lane, number> = { ...running };
  const done: string[] = [];
  const work = (name: string, lane: Lane, after: readonly string[] = []): PoolWork => ({
    name,
    lane,
    share: 1,
    seconds: 1,
    after,
    async run() {
      running[lane] += 1;
      most[lane] = Math.max(most[lane], running[lane]);
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      running[lane] -= 1;
      done.push(name);
      return `✔ ${name}`;
    },
  });
  const lines: string[] = [];
  await runPool(
    [
      ...['a', 'b', 'c'].map((name) => work(name, 'computing')),
      ...['d', 'e', 'f', 'g', 'h'].map((name) => work(name, 'waiting', ['fetch'])),
      work('fetch', 'preparing'),
    ],
    { capacity, say: (line) => lines.push(line), apartMs: 0 },
  );
  assert.deepEqual(done.toSorted(), ['a', 'b', 'c', 'd', 'e', 'f', 'fetch', 'g', 'h']);
  assert.ok(done.indexOf('fetch') < done.indexOf('d'));
  assert.equal(most.preparing, 1);
  assert.ok(most.waiting <= 4 && most.computing <= 2, JSON.stringify(most));
  for (const name of done)
    assert.ok(
      lines.some((line) => line.includes(`✔ ${name} `)),
      name,
    );
  assert.match(lines.at(-1) ?? '', /\(9 of 9\)/);
});

test('long work is never silent', async () => {
  const lines: string[] = [];
  let finish: () => void = () => {};
  const endless: PoolWork = {
    name: 'endless',
    lane: 'waiting',
    share: 1,
    seconds: 1,
    after: [],
    run: () => new Promise((resolve) => (finish = () => resolve('✔ endless'))),
  };
  await runPool([endless], {
    capacity,
    silenceMs: 0,
    say: (line) => {
      lines.push(line);
      finish();
    },
  });
  assert.match(lines[0] ?? '', /… running: endless/);
});
