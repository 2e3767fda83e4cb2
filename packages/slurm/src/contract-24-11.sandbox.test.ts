/** The contract suite on a real Slurm 24.11. */
import { realSubject } from '../testing/contract/subject.ts';
import { contractSuite } from '../testing/contract/suite.ts';
import { startMiniSlurm } from '../testing/mini-slurm.ts';

contractSuite('real Slurm 24.11', async () =>
  realSubject(await startMiniSlurm({ version: '24.11', nodes: 3, accounting: true })),
);
