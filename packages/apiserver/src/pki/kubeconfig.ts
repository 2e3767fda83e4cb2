/** The kubeconfig that a client of the server uses. */
import { type KeyPair, kubeconfigDocument } from '@slurm-operator/kubernetes-values';
import { stringify } from 'yaml';

export function kubeconfig(of: {
  readonly url: string;
  readonly caPem: string;
  readonly user: string;
  readonly credentials: KeyPair | { readonly token: string };
}): string {
  // As kubectl reads it: a user named `on` is quoted.
  return stringify(kubeconfigDocument({ ...of, name: 'embedded' }), { version: '1.1' });
}
