/** Every daemon of the control plane taken away once: the conditions say so, and with the cause gone all heals by itself. */
import { after, before as beforeAll, test } from 'node:test';
import { ControlPlane } from './src/control-plane.ts';
import { connectFromOutside, faults, runFault } from './src/faults.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

let plane: ControlPlane;
const root = process.getuid?.() === 0;
const it = (name: string, scenario: () => Promise<void>): void => {
  void test(name, { skip: root ? false : 'needs root: it runs containers' }, scenario);
};

beforeAll(async () => {
  if (!root) return;
  plane = await ControlPlane.open({
    name: `e2e-faults-${process.pid}`,
    nodes: 3,
    version: wantedSlurm(),
    nodeGraceMs: 8000,
  });
  await plane.prepare();
  await plane.apply();
  await plane.untilReady();
  await connectFromOutside(plane);
});
after(() => plane?.[Symbol.asyncDispose]());

for (const fault of faults)
  it(`${fault.name.replaceAll('_', ' ')}: told, and healed without help`, async () => {
    const { truthSeconds, healSeconds } = await runFault(plane, fault);
    console.log(
      `${fault.name}: told ${truthSeconds.toFixed(1)} s after Kubernetes knew, healed ${healSeconds.toFixed(1)} s after the cause was gone`,
    );
  });
