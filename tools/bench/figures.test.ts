import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Figures } from './figures.ts';

test('prints each figure with its goal, and all of them as one JSON line', () => {
  const lines: string[] = [];
  const figures = new Figures((line) => lines.push(line));
  figures.note('start (s)', 'start_seconds', 4.567, 5);
  figures.note('memory (MB)', 'rss_mb', 120, { below: 100 });
  figures.note('rate (1/s)', 'rate', 5, { least: 3 });
  figures.note('edits', 'edits', 31);
  figures.printJson('demo', { slurm: '26.05' });
  assert.match(lines[0] ?? '', /^start \(s\) +4\.57 {3}goal ≤ 5: met$/);
  assert.match(lines[1] ?? '', /120\.00 {3}goal < 100: missed$/);
  assert.match(lines[2] ?? '', /5\.00 {3}goal ≥ 3: met$/);
  assert.equal(figures.allMet, false);
  assert.match(lines[3] ?? '', /31\.00$/);
  assert.deepEqual(JSON.parse(lines[4] ?? ''), {
    bench: 'demo',
    slurm: '26.05',
    start_seconds: 4.567,
    start_seconds_met: true,
    rss_mb: 120,
    rss_mb_met: false,
    rate: 5,
    rate_met: true,
    edits: 31,
  });
});
