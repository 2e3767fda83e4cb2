/**
 * `make demo`: real Slurm as pods, on a cluster of this machine or, with KUBECONFIG set, on that one (whose nodes must
 * have the images). Ends when a job has run on all of its nodes.
 */

import { buildImage } from '@slurm-operator/images';
import { createClient, loadConfig } from '@slurm-operator/kube';
import { down, explain, findCluster, order, up } from '@slurm-operator/localcluster';
import { runSlurmPods } from '@slurm-operator/localcluster/testing';
import { bold, dim, duration, green, red } from './terminal.ts';

const name = 'demo';
const version = '26.05';
const workers = 3;
const say = (line: string) => console.log(dim(`  ${line}`));

async function main(): Promise<boolean> {
  const given = process.env['KUBECONFIG'] !== undefined && process.env['KUBECONFIG'] !== '';
  const images: string[] = [];
  if (!given) {
    console.log(bold(`▸ images of Slurm ${version}`));
    for (const image of ['slurmctld', 'slurmrestd', 'slurmd'] as const)
      images.push((await buildImage(image, version)).path);
  }
  const began = performance.now();
  const since = () => dim(duration(performance.now() - began).padStart(8));
  if (!given) {
    console.log(bold(`▸ a cluster of ${workers} nodes on this machine`));
    if ((await findCluster(name)).state !== 'none') await down(name, say);
    const record = await up({ name, nodes: workers, progress: say });
    for (const path of images) await order(record, '/load-image', { path });
    process.env['KUBECONFIG'] = record.kubeconfig;
  } else console.log(bold(`▸ the cluster that KUBECONFIG names: ${process.env['KUBECONFIG']}`));

  console.log(bold('▸ slurmctld, slurmrestd and slurmd as pods, and a job on all nodes'));
  const client = createClient(await loadConfig(), { userAgent: 'slurm-operator-demo' });
  try {
    const result = await runSlurmPods(client, {
      namespace: 'slurm-demo',
      workers,
      version,
      now: Math.floor(Date.now() / 1000),
      signal: AbortSignal.timeout(180_000),
      onLine: (line) => console.log(`${since()}  ${line}`),
    });
    if (!result.completed) return false;
    console.log(green(`✔ the job completed ${duration(performance.now() - began)} after the start`));
    if (!given)
      console.log(
        dim('  look around: npx localcluster kubectl --name demo get pods -A     stop it: make demo-down'),
      );
    return true;
  } finally {
    client.close();
  }
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(red(`✘ ${explain(error)}`));
  process.exitCode = 1;
}
