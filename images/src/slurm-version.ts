/** What all images with Slurm in them have in common. */
import type { AccountRequest, RootFile, Suite } from '@slurm-operator/sandbox';

/** The Slurm releases there are images of. */
export const slurmVersions = ['26.05', '24.11'] as const;
export type SlurmVersion = (typeof slurmVersions)[number];

/** The Debian release that packages each of them. */
const suites: Readonly<Record<SlurmVersion, Suite>> = { '26.05': 'forky', '24.11': 'trixie' };

export function slurmSuite(version: string): Suite {
  return suites[version as SlurmVersion];
}

/** Slurm's account has the number that volumes of existing clusters are written with. */
export const slurmAccount: AccountRequest = { name: 'slurm', uid: 401, gid: 401, home: '/var/lib/slurm' };

/** A directory of the slurm account. */
export function slurmDirectory(path: string): RootFile {
  return { path, directory: true, mode: 0o755, uid: slurmAccount.uid, gid: slurmAccount.gid };
}

/** Keeps systemd out and gives what every Slurm image needs. */
export const slurmBasePackages = [
  'systemd-standalone-sysusers',
  'adduser',
  'tini',
  'slurm-client',
  // auth/jwt is only recommended by the daemons, and none starts without it when slurm.conf names it.
  'slurm-wlm-jwt-plugin',
];
