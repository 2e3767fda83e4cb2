import { buildImage, buildOperatorImage, type SlurmVersion } from '@slurm-operator/images';
import type { BuildOptions } from '@slurm-operator/sandbox';

export const slurmDaemons = ['slurmctld', 'slurmrestd', 'slurmd', 'slurmdbd', 'login'] as const;

/** Archives of all that a whole installation runs: the daemons of Slurm, a database for them, and the operator. Needs root. */
export async function installedImages(version: SlurmVersion, options: BuildOptions = {}): Promise<string[]> {
  const paths: string[] = [];
  for (const daemon of slurmDaemons) paths.push((await buildImage(daemon, version, options)).path);
  paths.push((await buildImage('mariadb', undefined, options)).path);
  paths.push((await buildOperatorImage(options)).path);
  return paths;
}
