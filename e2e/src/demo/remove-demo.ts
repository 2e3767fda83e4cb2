/** Takes away what the demo put onto a cluster of somebody's own, and nothing else. */
import type { Helm } from '@slurm-operator/charts';
import { type Client, customResourceDefinitions, namespaces, sleep } from '@slurm-operator/kube';
import { Kubectl } from '../helm/kubectl.ts';
import { othersObjects, surveyGround } from './ground.ts';
import { demoNamespace, demoOperatorNamespace, releases } from './names.ts';

export interface RemoveDemoOptions {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly helm: () => Promise<Helm>;
  readonly step: (title: string) => void;
}

/** What it left, and why; empty when the demo is gone altogether. */
export async function removeDemo({ client, kubeconfig, helm, step }: RemoveDemoOptions): Promise<string[]> {
  const ground = await surveyGround(client);
  const left = ground.foreignNamespaces.map((name) => `the namespace ${name}: the demo did not make it`);
  if (ground.ownNamespaces.length === 0 && ground.ownDefinitions.length === 0) {
    step('no demo is on this cluster');
    return left;
  }
  const kubectl = await Kubectl.open(kubeconfig);
  const removeNamespace = async (name: string) => {
    if (!ground.ownNamespaces.includes(name)) return;
    step(`removing the namespace ${name}`);
    await kubectl.run(['delete', 'namespace', name, '--ignore-not-found', '--timeout=5m'], {
      timeoutMs: 330_000,
    });
  };
  const tool = await helm();
  const uninstall = async ({ name, namespace }: { readonly name: string; readonly namespace: string }) => {
    if (!ground.ownNamespaces.includes(namespace)) return;
    await tool.run([
      'uninstall',
      name,
      '--namespace',
      namespace,
      '--ignore-not-found',
      '--wait',
      '--timeout',
      '4m',
    ]);
  };
  step('uninstalling the Slurm cluster');
  await uninstall(releases.slurm);
  await removeNamespace(demoNamespace);

  const others = await othersObjects(client, ground);
  if (others.length > 0) {
    const named = others.slice(0, 5).join(', ');
    const more = others.length > 5 ? ` and ${others.length - 5} more` : '';
    left.push(
      `the operator in ${demoOperatorNamespace} and the custom resources: ${named}${more} rely on them; remove these and run this again`,
    );
    return left;
  }
  step('uninstalling the operator and its custom resources');
  await uninstall(releases.operator);
  await uninstall(releases.customResources);
  for (const name of ground.ownDefinitions) await client.delete(customResourceDefinitions, { name });
  await removeNamespace(demoOperatorNamespace);
  const deadline = performance.now() + 120_000;
  for (const name of ground.ownDefinitions)
    while ((await client.find(customResourceDefinitions, { name })) !== undefined) {
      if (performance.now() > deadline) throw new Error(`${name} was deleted and is still there`);
      await sleep(200, AbortSignal.timeout(5_000));
    }
  for (const name of ground.ownNamespaces)
    if ((await client.find(namespaces, { name })) !== undefined)
      left.push(`the namespace ${name}: it is still being removed`);
  return left;
}
