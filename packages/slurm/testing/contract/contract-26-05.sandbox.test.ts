/** The contract suite on a real Slurm 26.05. */
import { startMiniSlurm } from '../mini-slurm.ts';
import { realSubject } from './subject.ts';
import { contractSuite } from './suite.ts';

contractSuite('real Slurm 26.05', async () =>
  realSubject(await startMiniSlurm({ version: '26.05', nodes: 3, accounting: true })),
);
