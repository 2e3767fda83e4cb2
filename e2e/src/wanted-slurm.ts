import { type SlurmVersion, slurmVersions } from '@slurm-operator/images';

/** The Slurm that a test of the whole runs with: `SLURM_VERSION` (or `SLURM`), or the newest that there are images of. */
export function wantedSlurm(environment: NodeJS.ProcessEnv = process.env): SlurmVersion {
  const text = environment['SLURM_VERSION'] || environment['SLURM'] || '';
  const wanted = text === '' ? slurmVersions[0] : slurmVersions.find((version) => version === text);
  if (wanted === undefined)
    throw new Error(`SLURM_VERSION=${text}: there are images of ${slurmVersions.join(' and ')}`);
  return wanted;
}
