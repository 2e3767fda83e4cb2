/** The two plans as docs/architecture.md shows them: decided in full, and nothing is carried out. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { configurationPlan, scaleInPlan } from './printed-plans.ts';

test('a scale-in is printed: the drained worker is deleted, the next idle one is drained, the busy one stays', () => {
  const lines = scaleInPlan();
  assert.deepEqual(
    lines.filter((line) => /^(drain|delete|wait)/.test(line)),
    [
      'drain w-0: slurm-operator: Pod (slurm/w-0) is pending termination for scale-in',
      'delete worker w-2 (scale-in): drained',
      'wait: w-0 stays: w-0 is IDLE',
    ],
  );
  assert.ok(!lines.some((line) => line.startsWith('delete worker w-1')));
});

test('a configuration change is printed: it is tried first, and no ConfigMap is written', () => {
  const lines = configurationPlan();
  assert.ok(lines.includes('run trial of the configuration'));
  assert.ok(!lines.some((line) => line.startsWith('apply ConfigMap')));
});

test('docs/architecture.md shows what the example prints', () => {
  const page = readFileSync('docs/architecture.md', 'utf8');
  for (const lines of [scaleInPlan(), configurationPlan()])
    assert.ok(page.includes(lines.join('\n  ')), lines[0]);
});
