/** A certificate authority that outlives the process, so that kubeconfigs given out stay good. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CertificateAuthority } from './certificate-authority.ts';

/** The authority in the directory; makes one there the first time. */
export async function keptAuthority(directory: string, now: number): Promise<CertificateAuthority> {
  const certificate = join(directory, 'ca.crt');
  const key = join(directory, 'ca.key');
  try {
    return await CertificateAuthority.load(await readFile(certificate, 'utf8'), await readFile(key, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new Error(`cannot use the certificate authority in ${directory}`, { cause: error });
  }
  const authority = await CertificateAuthority.create(now);
  await writeFile(key, authority.caKeyPem, { mode: 0o600 });
  await writeFile(certificate, authority.caPem);
  return authority;
}
