/** The contract suite on a real Slurm 24.11. */
import { startMiniSlurm } from '../mini-slurm.ts';
import { realSubject } from './subject.ts';
import { contractSuite } from './suite.ts';

contractSuite('real Slurm 24.11', async () =>
  realSubject(await startMiniSlurm({ version: '24.11', nodes: 3, accounting: true })),
);
