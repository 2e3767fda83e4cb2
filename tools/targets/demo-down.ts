/** `make demo-down`: stops the demo's cluster, or takes the demo off the cluster that KUBECONFIG names. */
import { Helm } from '@slurm-operator/charts';
import * as demo from '@slurm-operator/demo';
import { down, explain, findCluster } from '@slurm-operator/localcluster';
import { red } from './terminal.ts';

const say = (line: string) => console.log(`  ${line}`);
const kubeconfig = process.env['KUBECONFIG'] ?? '';

async function fromGiven(): Promise<void> {
  const client = await demo.connect(kubeconfig);
  await using tools = new AsyncDisposableStack();
  tools.defer(() => client.close());
  const helm = async () => tools.use(await Helm.open({ kubeconfig, progress: say }));
  const left = await demo.removeDemo({ client, helm, step: say, say: (line) => say(`  ${line}`) });
  for (const what of left) console.log(`left: ${what}`);
  if (left.length === 0) console.log('the demo is gone');
}

async function ofThisMachine(): Promise<void> {
  if ((await findCluster(demo.clusterName)).state === 'none') {
    console.log('no demo runs');
    return;
  }
  await down(demo.clusterName, say);
  console.log('the demo is gone');
}

try {
  await (kubeconfig === '' ? ofThisMachine() : fromGiven());
} catch (error) {
  console.error(red(`✘ ${explain(error)}`));
  process.exitCode = 1;
}
