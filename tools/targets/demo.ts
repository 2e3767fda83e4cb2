/**
 * `make demo`: a whole Slurm cluster from the charts, on a cluster of this machine or, with KUBECONFIG set, on that one (which
 * must be able to get the images: REGISTRY= says where from). VALUES= names files of values for the chart slurm, PATIENCE= the
 * seconds without progress after which it stops. Ends when a job through ssh and one through REST have
 * completed; its last line is JSON.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Helm } from '@slurm-operator/charts';
import * as demo from '@slurm-operator/demo';
import { explain } from '@slurm-operator/localcluster';
import { requireRoot, runCommand } from '@slurm-operator/sandbox';
import './kubectl-cache.ts';
import { bold, dim, duration, green, red } from './terminal.ts';

const say = (line: string) => console.log(dim(`  ${line}`));
const step = (title: string) => console.log(bold(`▸ ${title}`));

const given = process.env['KUBECONFIG'] ?? '';
const registry = process.env['REGISTRY'] ?? '';
const valuesFiles = (process.env['VALUES'] ?? '').split(',').filter((file) => file !== '');
const patience = process.env['PATIENCE'] ?? '600';
const kubectlCommand = given === '' ? `npx localcluster kubectl --name ${demo.clusterName}` : 'kubectl';

/** helm and a cluster side by side: one is made of computing, the other of downloads. What fails first stops the other. */
async function helmAndCluster(): Promise<{ helm: Helm; kubeconfig: string }> {
  const enough = new AbortController();
  const stopOther = (error: unknown): never => {
    enough.abort(error);
    throw error;
  };
  step('helm');
  const helm = findHelm(enough.signal).catch(stopOther);
  const cluster = demo.ownCluster({ step, say, signal: enough.signal }).catch(stopOther);
  const [first, second] = await Promise.allSettled([helm, cluster]);
  // The first cause, not the abort that followed from it.
  if (first.status === 'rejected' || second.status === 'rejected') throw enough.signal.reason;
  const kubeconfig = second.value;
  return { helm: await Helm.open({ kubeconfig }), kubeconfig };
}

/** Builds it if it is missing, and prints progress. */
async function findHelm(signal?: AbortSignal): Promise<void> {
  const began = performance.now();
  const alive = setInterval(
    () => say(`… building helm, ${duration(performance.now() - began)} so far`),
    30_000,
  );
  try {
    await (await Helm.open({ progress: say, ...(signal === undefined ? {} : { signal }) }))[
      Symbol.asyncDispose
    ]();
  } finally {
    clearInterval(alive);
  }
}

/** Looks at the ground and at the images before helm: what is wrong with them is told within seconds. */
async function helmForGiven(): Promise<Helm> {
  step(`the cluster that KUBECONFIG names: ${given}`);
  const client = await demo.connect(given);
  try {
    await demo.takeGround(client);
    await demo.checkImages(client, {
      namespace: demo.demoNamespace,
      images: demo.demoImages(registry),
      say,
    });
  } finally {
    client.close();
  }
  step('helm');
  await findHelm();
  return Helm.open({ kubeconfig: given });
}

async function main(): Promise<demo.DemoResult> {
  const began = performance.now();
  // Before minutes are spent on anything else.
  if (given === '') requireRoot('A cluster of this machine');
  if (!/^[1-9]\d*$/.test(patience))
    throw new Error(
      `PATIENCE is "${patience}": give the seconds without progress after which the demo stops.`,
    );
  for (const file of valuesFiles)
    if (!existsSync(file)) throw new Error(`VALUES names ${file}, which does not exist.`);
  const { helm, kubeconfig } =
    given === '' ? await helmAndCluster() : { helm: await helmForGiven(), kubeconfig: given };
  const client = await demo.connect(kubeconfig);
  const since = () => dim(duration(performance.now() - began).padStart(9));
  let result: demo.DemoResult;
  try {
    if (given === '') await demo.takeGround(client);
    result = await demo.runDemo({
      client,
      kubeconfig,
      helm,
      // On a cluster of this machine the images are loaded, whatever registry others may use.
      registry: given === '' ? '' : registry,
      valuesFiles,
      kubectlCommand,
      stallMs: Number(patience) * 1000,
      step,
      say: (line) => console.log(`${since()}  ${line}`),
    });
  } finally {
    client.close();
    await helm[Symbol.asyncDispose]();
  }
  const cluster = `${kubectlCommand} --namespace ${demo.demoNamespace}`;
  const root = join(import.meta.dirname, '../..');
  const plugin = join(root, 'node_modules/.cache/kubectl-slurm');
  await runCommand([process.execPath, join(root, 'packages/cli/src/bundle-main.ts'), plugin]);
  const slurm = `${given === '' ? `KUBECONFIG=${kubeconfig} ` : ''}${join(root, 'node_modules/.bin/node')} ${plugin} --namespace ${demo.demoNamespace}`;
  console.log(`
${bold('The dashboard')}
  reach      ${kubectlCommand} --namespace ${demo.demoOperatorNamespace} port-forward service/slurm-operator-dashboard 8090
  open       http://localhost:8090
  log in     with the token that this prints (alice and bob use the cluster, root runs it):
             ${cluster} create token alice --duration=8h

${bold('What to try next')}
  alias      alias slurm='${slurm}'
  look       slurm status; slurm doctor; slurm nodes; slurm --help
  explain    echo '#!/bin/sh' | slurm submit - --slurm-user root; slurm jobs -a; slurm drain short-0 --reason "new disk"; slurm doctor; slurm resume short-0
  plan       slurm plan nodeset/slurm-worker-short --replicas 1; slurm plan nodeset/slurm-worker-short --restart
  scale      ${cluster} scale nodeset slurm-worker-short --replicas=1
  roll       ${cluster} patch nodeset slurm-worker-short --type=merge --patch '{"spec":{"template":{"metadata":{"annotations":{"rolled":"yes"}}}}}'
  drain      printf '#!/bin/sh\\nsleep 60\\n' | slurm submit - --slurm-user root
             ${cluster} annotate pod slurm-worker-short-0 nodeset.slinky.slurm.net/pod-cordon=true
  watch      ${cluster} get slurm --watch
  stop       make demo-down
`);
  return result;
}

// What runs stays: a cluster has a process of its own, which does not hear Ctrl-C.
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
  process.once(signal, () => {
    console.log(
      `\n${red(`✘ ended by ${signal}`)}: what was begun is still there; make demo goes on, make demo-down removes it`,
    );
    process.exit(code);
  });

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
