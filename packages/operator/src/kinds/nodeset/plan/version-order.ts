/** Slurm's own rule: slurmdbd is upgraded first, then slurmctld, then slurmd; a newer daemon does not support an older one above it. */

export interface Version {
  readonly major: number;
  readonly minor: number;
}

/** Why workers may not take the image they are to have now; undefined when they may. A version that is not known holds nothing. */
export function versionHold(slurmd: Version | undefined, slurmctld: Version | undefined): string | undefined {
  if (slurmd === undefined || slurmctld === undefined || !isNewer(slurmd, slurmctld)) return undefined;
  return `The update waits: the new workers run Slurm ${text(slurmd)} and slurmctld still runs ${text(slurmctld)}. Upgrade in the order slurmdbd, slurmctld, slurmd.`;
}

function isNewer(a: Version, b: Version): boolean {
  return a.major > b.major || (a.major === b.major && a.minor > b.minor);
}

function text({ major, minor }: Version): string {
  return `${major}.${String(minor).padStart(2, '0')}`;
}
