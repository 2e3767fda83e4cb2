/** Versions of Slurm: what an image's tag says about the one inside, and what their order decides. Pure. */

export interface SlurmVersion {
  readonly major: number;
  readonly minor: number;
}

/** Reads `26.05` out of tags such as `26.05`, `26.05.5-debian` or `slurmd-26.05`. */
export function slurmVersionOf(image: string | undefined): SlurmVersion | undefined {
  const reference = image?.split('@')[0] ?? '';
  const tag = reference.slice(reference.lastIndexOf('/') + 1).split(':')[1] ?? '';
  const match = /(?:^|[^0-9])(\d{2})\.(\d{2})(?:[^0-9]|$)/.exec(tag);
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]) };
}

export function isOlder(a: SlurmVersion, b: SlurmVersion): boolean {
  return a.major < b.major || (a.major === b.major && a.minor < b.minor);
}

/**
 * Why workers may not take their desired image yet; undefined when they may. Slurm's own order: slurmdbd is upgraded first, then slurmctld, then
 * slurmd, because a newer daemon does not support an older one above it. An unknown version holds nothing.
 */
export function versionHold(
  slurmd: SlurmVersion | undefined,
  slurmctld: SlurmVersion | undefined,
): string | undefined {
  if (slurmd === undefined || slurmctld === undefined || !isOlder(slurmctld, slurmd)) return undefined;
  return `The update waits: the new workers run Slurm ${text(slurmd)} and slurmctld still runs ${text(slurmctld)}. Upgrade in the order slurmdbd, slurmctld, slurmd.`;
}

const text = ({ major, minor }: SlurmVersion): string => `${major}.${String(minor).padStart(2, '0')}`;

/**
 * slurmctld and slurmd answer HTTP, for probes and metrics, since 25.11. A tag that names no version is taken for a current one: who runs an
 * older Slurm under such a tag gives the probes of its containers in the custom resource.
 */
export function servesHttp(image: string | undefined): boolean {
  const version = slurmVersionOf(image);
  return version === undefined || !isOlder(version, { major: 25, minor: 11 });
}
