/** Every daemon of the control plane fails once: the conditions report it, and it recovers automatically after the cause is gone. */
import { after, before as beforeAll, describe, it } from 'node:test';
import { ControlPlane } from './src/control-plane/control-plane.ts';
import { connectFromOutside, faults, runFault } from './src/control-plane/faults.ts';
import { needsCluster, needsThisMachine } from './src/given/given-cluster.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

describe(`faults of the control plane with Slurm ${wantedSlurm()}`, needsCluster(3), () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await ControlPlane.open({
      name: `e2e-faults-${process.pid}`,
      nodes: 3,
      version: wantedSlurm(),
      nodeGraceMs: 8000,
      onOneNode: true,
    });
    await plane.prepare();
    await plane.apply();
    await plane.untilReady();
    await connectFromOutside(plane);
  });
  after(() => plane?.[Symbol.asyncDispose]());

  for (const fault of faults)
    it(`${fault.name.replaceAll('_', ' ')}: told, and healed without help`, {
      ...(fault.needsMachine === undefined ? {} : needsThisMachine(fault.needsMachine)),
    }, async () => {
      const { truthSeconds, healSeconds } = await runFault(plane, fault);
      console.log(
        `${fault.name}: told ${truthSeconds.toFixed(1)} s after Kubernetes knew, healed ${healSeconds.toFixed(1)} s after the cause was gone`,
      );
    });
});
