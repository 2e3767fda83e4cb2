import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReport } from './trial-report.ts';

const imageOf = (id: string) => `image-${id}`;
const read = (...lines: string[]) => readReport(lines.join('\n'), imageOf);

test('what slurmctld refuses is quoted', () => {
  assert.deepEqual(read('slurmctld failed fatal: no such plugin'), {
    kind: 'refused',
    by: 'slurmctld',
    message: 'fatal: no such plugin',
  });
});

test('a slurmd that fails with the new configuration alone refuses it, and its image is named', () => {
  const refused = { kind: 'refused', by: 'slurmd', message: 'slurmd of image image-a1: it ended: fatal: x' };
  assert.deepEqual(read('slurmd a1 new failed it ended: fatal: x', 'slurmd a1 current passed'), refused);
  assert.deepEqual(read('slurmd a1 new failed it ended: fatal: x'), refused, 'nothing to compare with');
});

test('a slurmd that fails with both for the same reason leaves it undecided', () => {
  const result = read(
    'slurmd a1 new failed it ended: error: pid 4711 at 0x7f00 in /mnt/new/slurm.conf',
    'slurmd a1 current failed it ended: error: pid 4800 at 0x7e00 in /mnt/current/slurm.conf',
  );
  assert.equal(result.kind, 'undecided');
});

test('a slurmd that fails with both, but for another reason, refuses the new configuration', () => {
  const result = read(
    'slurmd a1 new failed it ended: fatal: cgroup_g_initialize',
    'slurmd a1 current failed it ended: no such device',
  );
  assert.deepEqual(result, {
    kind: 'refused',
    by: 'slurmd',
    message: 'slurmd of image image-a1: it ended: fatal: cgroup_g_initialize',
  });
});

test('one worker that refuses decides, whatever the trial cannot say about the others', () => {
  const result = read(
    'slurmd a1 new failed x',
    'slurmd a1 current failed x',
    'slurmd b2 new failed y',
    'slurmd b2 current passed',
  );
  assert.deepEqual(result, { kind: 'refused', by: 'slurmd', message: 'slurmd of image image-b2: y' });
});

test('a report that cannot be read refuses the configuration: unknown is never taken for good', () => {
  assert.equal(read('').kind, 'refused');
  assert.equal(read('something else').kind, 'refused');
  assert.equal(read('slurmd a1 current passed').kind, 'refused');
});
