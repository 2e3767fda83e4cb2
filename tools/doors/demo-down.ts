/** `make demo-down`: stops the demo's cluster and removes every trace of it. */
import { down, findCluster } from '@slurm-operator/localcluster';

if ((await findCluster('demo')).state === 'none') console.log('no demo runs');
else {
  await down('demo', (line) => console.log(`  ${line}`));
  console.log('the demo is gone');
}
