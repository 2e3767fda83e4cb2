/** `make demo-down`: stops the demo's cluster, or takes the demo off the cluster that KUBECONFIG names. */
import { Helm } from '@slurm-operator/charts';
import { removeDemo } from '@slurm-operator/e2e';
import { down, findCluster } from '@slurm-operator/localcluster';

const say = (line: string) => console.log(`  ${line}`);
const kubeconfig = process.env['KUBECONFIG'] ?? '';
if (kubeconfig !== '') {
  await using helm = await Helm.open({ kubeconfig, progress: say });
  await removeDemo({ kubeconfig, helm, step: say });
  console.log('the demo is gone');
} else if ((await findCluster('demo')).state === 'none') console.log('no demo runs');
else {
  await down('demo', say);
  console.log('the demo is gone');
}
