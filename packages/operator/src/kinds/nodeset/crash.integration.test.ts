/**
 * Law L7 with a fake Slurm: the operator crashes after its k-th write; the one that follows ends where a run without the crash ends. By
 * default k is the first, the last and every third write, `CRASH=every` tries them all; `make soak CRASH=all` does with a real Slurm.
 */
import { test } from 'node:test';
import { crashAtEveryWrite } from '../../../testing/crash-at-every-write.ts';
import { crashScenarios } from '../../../testing/crash-scenarios.ts';
import { NodeSetStage } from '../../../testing/nodeset-stage.ts';

const every = process.env['CRASH'] === 'every';

/** The writes behind which a run of so many writes is made to crash. */
function choose(writes: number): number[] {
  const all = Array.from({ length: writes }, (_, write) => write);
  return every ? all : all.filter((write) => write % 3 === 0 || write === writes - 1);
}

for (const scenario of crashScenarios) {
  test(`crash after ${every ? 'every write' : 'the first, the last and every third write'} of a ${scenario.name}`, {
    timeout: 900_000,
  }, async () => {
    const { writes, tried } = await crashAtEveryWrite(scenario, {
      open: () => NodeSetStage.open(2, { lockstep: true }),
      choose,
    });
    console.log(
      `    ${scenario.name}: a crash behind ${tried.length} of ${writes} writes (${tried.join(', ')}), all end alike`,
    );
  });
}
