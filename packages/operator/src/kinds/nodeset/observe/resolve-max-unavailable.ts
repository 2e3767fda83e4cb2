import { resolveCount } from '@slurm-operator/kubernetes-values';

/** How many workers may be missing at a time: a number, or a percentage of the desired count, rounded up; at least one. */
export function resolveMaxUnavailable(value: number | string, desired: number): number {
  const count = resolveCount(value, desired, Math.ceil);
  return Number.isFinite(count) ? Math.max(1, Math.floor(count)) : 1;
}
