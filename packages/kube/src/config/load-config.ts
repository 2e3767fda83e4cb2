import type { ClusterConfig } from './config.ts';
import { inClusterConfig, runsInCluster } from './in-cluster.ts';
import { type KubeconfigOptions, kubeconfigConfig } from './kubeconfig.ts';

/**
 * The configuration a program should use: an explicit kubeconfig (option or KUBECONFIG), else the service account of
 * the pod it runs in, else ~/.kube/config.
 */
export async function loadConfig(options: KubeconfigOptions = {}): Promise<ClusterConfig> {
  const env = options.env ?? process.env;
  const explicit =
    options.files !== undefined || options.text !== undefined || (env['KUBECONFIG'] ?? '') !== '';
  if (!explicit && runsInCluster({ env })) return inClusterConfig({ env });
  return kubeconfigConfig(options);
}
