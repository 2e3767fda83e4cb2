/** The contract suite on the simulator, as both releases. */
import { startSimulator } from '../simulator/simulator.ts';
import { simulatedSubject } from './subject.ts';
import { contractSuite } from './suite.ts';

for (const release of ['26.05', '24.11'] as const)
  contractSuite(`the simulator of Slurm ${release}`, async () =>
    simulatedSubject(await startSimulator({ release, nodes: 'n[0-2]' })),
  );
