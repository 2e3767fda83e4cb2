import { type Client, createClient, loadConfig } from '@slurm-operator/kube';

/** A client of the cluster that this value of KUBECONFIG names: one file or several, as kubectl reads them. */
export async function connect(kubeconfig: string): Promise<Client> {
  const config = await loadConfig({ env: { ...process.env, KUBECONFIG: kubeconfig } });
  return createClient(config, { userAgent: 'slurm-operator-demo' });
}
