/** An image with what the example's scripts call: bash, curl, jq, kubectl, and Python with requests. */
import { join } from 'node:path';
import { buildRootfs, writeImageTar } from '@slurm-operator/sandbox';

export const clientImage = 'slurm-operator/example-client:test';

/** Answers the path of the archive. Needs root. */
export async function buildClientImage(directory: string): Promise<string> {
  const rootfs = await buildRootfs({
    name: 'image',
    suite: 'trixie',
    packages: ['bash', 'coreutils', 'curl', 'jq', 'kubectl', 'python3', 'python3-requests'],
    accounts: [],
    files: [],
  });
  const output = join(directory, 'client.tar');
  await writeImageTar({
    rootfs: rootfs.path,
    tag: clientImage,
    config: { command: ['sleep', 'infinity'], env: { PATH: '/usr/bin:/bin' } },
    output,
  });
  return output;
}
