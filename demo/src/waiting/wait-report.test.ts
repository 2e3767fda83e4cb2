import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { beginReport, listEveryMs, report, settleMs, type WaitingLine } from './wait-report.ts';

const line = (subject: string, why: string, isFault = false): WaitingLine => ({
  subject,
  namespace: 'n',
  why,
  isFault,
});

/** What is printed at each of these moments. */
function printed(steps: readonly (readonly [at: number, lines: readonly WaitingLine[]])[]): string[][] {
  let state = beginReport(0);
  return steps.map(([at, lines]) => {
    const next = report(state, lines, at);
    state = next.state;
    return [...next.print];
  });
}

test('a fault is printed at once, and once', () => {
  const lines = [line('Pod a', 'crashes', true)];
  assert.deepEqual(
    printed([
      [0, lines],
      [500, lines],
      [1_000, lines],
    ]),
    [['Pod a: crashes'], [], []],
  );
});

test('a changed fault is printed again', () => {
  assert.deepEqual(
    printed([
      [0, [line('Pod a', 'x', true)]],
      [500, [line('Pod a', 'y', true)]],
    ]),
    [['Pod a: x'], ['Pod a: y']],
  );
});

test('what is only starting is printed when it lasts', () => {
  const lines = [line('Pod a', 'starts')];
  assert.deepEqual(
    printed([
      [0, lines],
      [settleMs - 1, lines],
      [settleMs, lines],
    ]),
    [[], [], ['Pod a: starts']],
  );
});

test('the whole list is printed every 15 seconds, with how long it has been', () => {
  const lines = [line('Pod a', 'crashes', true), line('Pod b', 'starts')];
  const list = (seconds: number) => [
    `… not ready after ${seconds} s:`,
    '  Pod a: crashes',
    '  Pod b: starts',
  ];
  assert.deepEqual(
    printed([
      [0, lines],
      [15_000, lines],
      [29_000, lines],
      [30_000, lines],
    ]),
    [['Pod a: crashes'], list(15), [], list(30)],
  );
});

test('what comes back after it was well is printed again', () => {
  const lines = [line('Pod a', 'crashes', true)];
  assert.deepEqual(
    printed([
      [0, lines],
      [500, []],
      [1_000, lines],
    ]),
    [['Pod a: crashes'], [], ['Pod a: crashes']],
  );
});

test('whatever is said for 15 seconds has been printed', () => {
  const step = fc.tuple(
    fc.integer({ min: 1, max: 4_000 }),
    fc.subarray(['a', 'b', 'c']),
    fc.constantFrom('x', 'y'),
    fc.boolean(),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let [state, now] = [beginReport(0), 0];
      let text = '';
      for (const [pause, subjects, why, isFault] of steps) {
        now += pause;
        const next = report(
          state,
          subjects.map((each) => line(each, why, isFault)),
          now,
        );
        state = next.state;
        text += next.print.join('\n');
      }
      const last = [line('z', 'lasts')];
      for (const end = now + listEveryMs + 500; now <= end; now += 500) {
        const next = report(state, last, now);
        state = next.state;
        text += next.print.join('\n');
      }
      assert.match(text, /z: lasts/);
    }),
  );
});
