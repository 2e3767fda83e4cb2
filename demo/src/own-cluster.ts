/** A cluster of this machine for the demo, with all images on it. Needs root. */

import { type Client, createClient, loadConfig } from '@slurm-operator/kube';
import { down, findCluster, order, up } from '@slurm-operator/localcluster';
import { installedImages } from './install/install.ts';
import { slurmVersion, workers } from './names.ts';

export const clusterName = 'demo';

export interface OwnClusterOptions {
  readonly step: (title: string) => void;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Answers the path of its kubeconfig. One of an earlier run makes way. */
export async function ownCluster({ step, say, signal }: OwnClusterOptions): Promise<string> {
  step(`images: Slurm ${slurmVersion}, MariaDB and the operator`);
  const images = await installedImages(slurmVersion, { progress: say, signal });
  signal.throwIfAborted();
  step(`a cluster of ${workers} nodes on this machine`);
  if ((await findCluster(clusterName)).state !== 'none') await down(clusterName, say);
  const record = await up({ name: clusterName, nodes: workers, progress: say, signal });
  for (const path of images) await order(record, '/load-image', { path });
  return record.kubeconfig;
}

/** A client of the cluster that this value of KUBECONFIG names: one file or several, as kubectl reads them. */
export async function connect(kubeconfig: string): Promise<Client> {
  const config = await loadConfig({ env: { ...process.env, KUBECONFIG: kubeconfig } });
  return createClient(config, { userAgent: 'slurm-operator-demo' });
}
