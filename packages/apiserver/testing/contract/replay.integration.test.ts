/** The suite itself can fail: a recording in which one value was changed is not passed by the server that passes the real one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type RecordedCase, recordedCases } from './case.ts';
import { setOf, tierOf } from './case-groups.ts';
import { EmbeddedRun } from './embedded-run.ts';
import { knownDifferences } from './weights.ts';

let run: EmbeddedRun;
before(async () => {
  run = await EmbeddedRun.start();
});
after(() => run.stop());

type Path = readonly (string | number)[];

/** The places of all values below. What a mask hides, and how old something is, differs at each run anyway. */
function places(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) =>
      places(item, [...path, Array.isArray(value) ? Number(key) : key]),
    );
  return typeof value === 'string' && /<|^\d+s$/.test(value) ? [] : [path];
}

function changed(value: unknown): unknown {
  // Adding one to a very large number changes nothing.
  if (typeof value === 'number') return value + Math.max(1, Math.abs(value));
  if (typeof value === 'boolean') return !value;
  return `${JSON.stringify(value)}x`;
}

/** A copy in which the value at one place is another. */
function withChange(recorded: RecordedCase, path: Path): RecordedCase {
  const copy = structuredClone(recorded);
  let at: Record<string | number, unknown> = copy as never;
  for (const step of path.slice(0, -1)) at = at[step] as typeof at;
  const last = path.at(-1) ?? '';
  at[last] = changed(at[last]);
  return copy;
}

/** Statuses, bodies and events; not what is sent. Answers that were cut down are compared by what is left of them. */
function compared(recorded: RecordedCase): Path[] {
  return recorded.steps.flatMap((step, index) =>
    step.trimmed === undefined && step.request !== undefined
      ? (['status', 'body', 'events'] as const).flatMap((part) =>
          places(step[part], ['steps', index, part]).filter((path) => path.length > 3 || part === 'status'),
        )
      : [],
  );
}

/** Not those whose answers take seconds by their nature, and those in which the replay plays a controller. */
const unfit =
  /^(?:list-watch\/(?:09|17|28)|crud\/3[13]|builtins\/(?:09|19|20)|patch\/(?:08|09|11)|admission\/10)-/;

const cases = recordedCases().filter(
  (recorded) =>
    tierOf(recorded) === 'api' &&
    knownDifferences[recorded.name] === undefined &&
    !unfit.test(recorded.name) &&
    compared(recorded).length > 0,
);

async function mustNotice(recorded: RecordedCase, path: Path): Promise<void> {
  const found = await run.replay(withChange(recorded, path));
  assert.notEqual(found, undefined, `${recorded.name}: ${path.join('.')} was changed and not noticed`);
}

test('one changed value anywhere in an answer or an event is found', async () => {
  const tampered = fc
    .constantFrom(...cases)
    .chain((recorded) =>
      fc.record({ recorded: fc.constant(recorded), path: fc.constantFrom(...compared(recorded)) }),
    );
  await fc.assert(
    fc.asyncProperty(tampered, ({ recorded, path }) => mustNotice(recorded, path)),
    { numRuns: 60 },
  );
});

test('one changed value in each case of the second set is found', async () => {
  for (const recorded of cases.filter((one) => setOf(one) === 'second'))
    for (const path of fc.sample(fc.constantFrom(...compared(recorded)), 1)) await mustNotice(recorded, path);
});
