/**
 * `make demo`: a whole Slurm cluster from the charts, on a cluster of this machine or, with KUBECONFIG set, on that one (whose
 * nodes must have the images). Ends when a job through ssh and one through REST have completed; its last line is JSON.
 */
import { Helm } from '@slurm-operator/charts';
import { type DemoResult, demoNamespace, runDemo } from '@slurm-operator/e2e';
import { buildImage, buildOperatorImage } from '@slurm-operator/images';
import { down, explain, findCluster, order, up } from '@slurm-operator/localcluster';
import { requireRoot } from '@slurm-operator/sandbox';
import { bold, dim, duration, green, red } from './terminal.ts';

const name = 'demo';
const version = '26.05';
const workers = 3;
const say = (line: string) => console.log(dim(`  ${line}`));
const step = (title: string) => console.log(bold(`▸ ${title}`));

/** A cluster of this machine with all images on it; answers the path of its kubeconfig. */
async function ownCluster(): Promise<string> {
  step(`images: Slurm ${version}, MariaDB and the operator`);
  const images: string[] = [];
  for (const image of ['slurmctld', 'slurmrestd', 'slurmd', 'slurmdbd', 'login'] as const)
    images.push((await buildImage(image, version, { progress: say })).path);
  images.push((await buildImage('mariadb', undefined, { progress: say })).path);
  images.push((await buildOperatorImage({ progress: say })).path);
  step(`a cluster of ${workers} nodes on this machine`);
  if ((await findCluster(name)).state !== 'none') await down(name, say);
  const record = await up({ name, nodes: workers, progress: say });
  for (const path of images) await order(record, '/load-image', { path });
  return record.kubeconfig;
}

async function main(): Promise<DemoResult> {
  const began = performance.now();
  const given = process.env['KUBECONFIG'] ?? '';
  // Before minutes are spent on anything else.
  if (given === '') requireRoot('A cluster of this machine');
  step('helm');
  const programs = { progress: say };
  // First, because without it there is nothing to show.
  await (await Helm.open(programs))[Symbol.asyncDispose]();
  const kubeconfig = given === '' ? await ownCluster() : given;
  if (given !== '') step(`the cluster that KUBECONFIG names: ${given}`);
  await using helm = await Helm.open({ ...programs, kubeconfig });
  const since = () => dim(duration(performance.now() - began).padStart(9));
  const result = await runDemo({
    kubeconfig,
    helm,
    step,
    say: (line) => console.log(`${since()}  ${line}`),
  });
  const kubectl = given === '' ? 'npx localcluster kubectl --name demo' : 'kubectl';
  const cluster = `${kubectl} --namespace ${demoNamespace}`;
  console.log(`
${bold('What to try next')}
  scale      ${cluster} scale nodeset slurm-worker-short --replicas=1
  roll       ${cluster} patch nodeset slurm-worker-short --type=merge --patch '{"spec":{"template":{"metadata":{"annotations":{"rolled":"yes"}}}}}'
  drain      ${cluster} exec slurm-controller-0 -c slurmctld -- sbatch --chdir=/tmp --wrap 'sleep 60'
             ${cluster} annotate pod slurm-worker-short-0 nodeset.slinky.slurm.net/pod-cordon=true
  watch      ${cluster} get slurm --watch
  stop       make demo-down
`);
  return result;
}

try {
  const result = await main();
  const well = result.jobs_completed === 2;
  console.log(well ? green('✔ both jobs completed') : red('✘ not every job completed'));
  console.log(JSON.stringify(result));
  process.exitCode = well ? 0 : 1;
} catch (error) {
  console.error(red(`✘ ${explain(error)}`));
  process.exitCode = 1;
}
