/** The contract suite on the simulator, as both releases. */
import { after, before, describe } from 'node:test';
import { startSimulator } from '../simulator/simulator.ts';
import { reconfigure } from './reconfigure.ts';
import { type Subject, simulatedSubject } from './subject.ts';
import { contractSuite } from './suite.ts';

for (const release of ['26.05', '24.11'] as const) {
  const start = async () => simulatedSubject(await startSimulator({ release, nodes: 'n[0-2]' }));
  contractSuite(`the simulator of Slurm ${release}`, start);

  describe(`a new slurm.conf on the simulator of Slurm ${release}`, () => {
    let subject: Subject;
    before(async () => {
      subject = await start();
    });
    after(() => subject.stop());
    reconfigure(() => subject);
  });
}
