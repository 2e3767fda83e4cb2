/** The reporter in a real run of node:test: what it counts, and that nothing that failed goes untold. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Tally } from './tally-reporter.ts';

const directory = mkdtempSync(join(tmpdir(), 'reporter-'));
after(() => rmSync(directory, { recursive: true }));

function run(files: Readonly<Record<string, string>>): {
  tally: Tally;
  output: string;
  status: number | null;
} {
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(directory, name);
    writeFileSync(path, `import { before, describe, test } from 'node:test';\n${text}`);
    return path;
  });
  const tallyFile = join(directory, 'tally.json');
  const reporter = `--test-reporter=${join(import.meta.dirname, 'tally-reporter.ts')}`;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--test', reporter, ...paths], {
    env: { ...env, TALLY_FILE: tallyFile, NO_COLOR: '1' },
    encoding: 'utf8',
  });
  return { tally: JSON.parse(readFileSync(tallyFile, 'utf8')) as Tally, output: stdout + stderr, status };
}

test('passed, skipped and failed tests are counted once, wherever they stand', () => {
  const { tally, output, status } = run({
    'mixed.test.ts': `
      describe('suite', () => {
        test('good', () => {});
        test('outer', async (t) => { await t.test('inner', () => { throw new Error('boom'); }); });
      });
      describe('unprepared', () => { before(() => { throw new Error('no floor'); }); test('never', () => {}); });
      test('left out', { skip: 'no root' }, () => {});
      test('some day', { todo: true }, () => { throw new Error('not yet'); });`,
  });
  assert.equal(tally.passed, 1);
  assert.deepEqual(tally.skipped, ['left out (no root)', 'some day (to do)']);
  assert.equal(status, 1);
  const inner = tally.failures.find((failure) => failure.name === 'inner');
  assert.match(inner?.where ?? '', /mixed\.test\.ts:5$/);
  assert.match(inner?.error ?? '', /^Error: boom\n/);
  assert.ok(!tally.failures.some(({ name }) => name === 'outer' || name === 'suite'), 'a cause is told once');
  assert.ok(
    tally.failures.some(({ error }) => error.includes('no floor')),
    'a failed hook of a suite is told',
  );
  assert.match(output, /✘ \S+mixed\.test\.ts \d+ tests/);
});

test('a file that is killed is a failure with its last output', () => {
  const { tally } = run({
    'killed.test.ts': `console.error('my final output'); process.kill(process.pid, 'SIGKILL');`,
    'lacks.test.ts': `import './nothing.ts';`,
  });
  assert.equal(tally.passed, 0);
  const [killed, lacks] = ['killed', 'lacks'].map((name) =>
    tally.failures.find((failure) => failure.name.endsWith(`${name}.test.ts`)),
  );
  assert.match(killed?.error ?? '', /ended by SIGKILL; it said last:\nmy final output/);
  assert.match(lacks?.error ?? '', /ended with exit code 1[^]*Cannot find module/);
});
