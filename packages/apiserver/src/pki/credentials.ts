/** A certificate authority that outlives the process, so that kubeconfigs given out stay good. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority, type KeyPair, kubeconfigDocument } from '@slurm-operator/kubernetes-values';
import { stringify } from 'yaml';

export const AUTHORITY_NAME = 'embedded-apiserver-ca';

/** The authority in the directory; makes one there the first time. */
export async function keptAuthority(directory: string, now: number): Promise<KeyPair> {
  const certificate = join(directory, 'ca.crt');
  const key = join(directory, 'ca.key');
  try {
    return { certificatePem: await readFile(certificate, 'utf8'), keyPem: await readFile(key, 'utf8') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new Error(`cannot use the certificate authority in ${directory}`, { cause: error });
  }
  const authority = await createAuthority({ name: AUTHORITY_NAME, now });
  await writeFile(key, authority.keyPem, { mode: 0o600 });
  await writeFile(certificate, authority.certificatePem);
  return authority;
}

/** The kubeconfig that a client of the server uses. */
export function kubeconfig(of: {
  readonly url: string;
  readonly caPem: string;
  readonly user: string;
  readonly credentials: KeyPair | { readonly token: string };
}): string {
  // As kubectl reads it: a user named `on` is quoted.
  return stringify(kubeconfigDocument({ ...of, name: 'embedded' }), { version: '1.1' });
}
