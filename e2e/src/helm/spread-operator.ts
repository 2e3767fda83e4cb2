/** The operator as the chart installs it by default, with one replica of each program on each of two nodes; and its leader. */

import { operatorNamespace } from '@slurm-operator/demo/install';
import { type Client, deployments, leases, nodes, type Pod, pods } from '@slurm-operator/kube';
import { installOperator } from '../given/given-cluster.ts';
import { until } from '../until.ts';
import type { HelmStage } from './helm-stage.ts';

/** Default values; the third node is cordoned meanwhile, so that the first two share all replicas. */
export async function installSpreadOperator({ client, helm, cluster }: HelmStage): Promise<void> {
  const third = cluster.nodes[2]?.name ?? '';
  await client.mergePatch(nodes, { name: third }, { spec: { unschedulable: true } });
  await installOperator(helm);
  await client.mergePatch(nodes, { name: third }, { spec: { unschedulable: null } });
  await until('both programs have two ready replicas', () => replicasReady(client));
}

export async function replicasReady(client: Client): Promise<boolean> {
  const { items } = await client.list(deployments, { namespace: operatorNamespace });
  return items.length === 2 && items.every(({ status }) => status?.readyReplicas === 2);
}

export const operatorPods = async (client: Client): Promise<Pod[]> =>
  (await client.list(pods, { namespace: operatorNamespace })).items as Pod[];

/** The name of the pod that holds the lease, whether or not it still runs. */
export async function leaderName(client: Client): Promise<string> {
  const lease = await client.get(leases, { namespace: operatorNamespace, name: 'slurm-operator' });
  return lease.spec?.holderIdentity?.split('_')[0] ?? '';
}

/** The leading pod, its node, and the names of the operator's pods there. */
export async function leaderAndNode(client: Client): Promise<{ pod: string; node: string; there: string[] }> {
  const [all, pod] = [await operatorPods(client), await leaderName(client)];
  const node = all.find(({ metadata }) => metadata.name === pod)?.spec?.nodeName ?? '';
  const there = all.filter(({ spec }) => spec?.nodeName === node).map(({ metadata }) => metadata.name);
  if (!there.some((name) => name.includes('webhook')))
    throw new Error(`node ${node} of the leader ${pod} has no webhook replica: the replicas were not spread`);
  return { pod, node, there };
}
