import type { ClusterConfig } from '@slurm-operator/kube';
import { parse } from 'yaml';

/** A client configuration from the text of a kubeconfig, aimed at another address of the same server. */
export function configFor(server: string, kubeconfig: string): ClusterConfig {
  const file = parse(kubeconfig) as {
    clusters: { cluster: { 'certificate-authority-data': string } }[];
    users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
  };
  const text = (data: string | undefined) => Buffer.from(data ?? '', 'base64').toString('utf8');
  const identity = {
    ca: text(file.clusters[0]?.cluster['certificate-authority-data']),
    cert: text(file.users[0]?.user['client-certificate-data']),
    key: text(file.users[0]?.user['client-key-data']),
  };
  return { server, namespace: 'default', identity: () => Promise.resolve(identity) };
}
