/** The contract suite on the simulator, as both releases. */

import { simulatedSubject } from '../testing/contract/subject.ts';
import { contractSuite } from '../testing/contract/suite.ts';
import { startSimulator } from '../testing/simulator/simulator.ts';

for (const release of ['26.05', '24.11'] as const)
  contractSuite(`the simulator of Slurm ${release}`, async () =>
    simulatedSubject(await startSimulator({ release, nodes: 'n[0-2]' })),
  );
