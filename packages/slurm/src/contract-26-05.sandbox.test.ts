/** The contract suite on a real Slurm 26.05. */
import { realSubject } from '../testing/contract/subject.ts';
import { contractSuite } from '../testing/contract/suite.ts';
import { startMiniSlurm } from '../testing/mini-slurm.ts';

contractSuite('real Slurm 26.05', async () =>
  realSubject(await startMiniSlurm({ version: '26.05', nodes: 3, accounting: true })),
);
