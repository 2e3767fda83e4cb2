import type { Suite } from '@slurm-operator/sandbox';

/** The Slurm releases there are images of. */
export const slurmVersions = ['26.05', '24.11'] as const;
export type SlurmVersion = (typeof slurmVersions)[number];

/** The Debian release that packages each of them. */
export const suiteOf: Readonly<Record<SlurmVersion, Suite>> = { '26.05': 'forky', '24.11': 'trixie' };
