/** Between a specification, the fields of a row and the row as the client of Slurm writes it. Pure. */
import { durationMilliseconds } from '@slurm-operator/kubernetes-values';
import type { FieldValue } from './fields.ts';

/** Below it are counts by TRES, whose names may contain dots. */
const countsPath = /^(limits\.\w+\.(?:tres|tresPerNode|tresMinutes|tresRunMinutes|minTres))\.(.+)$/;

/** Undefined: unset, which is `infinite` for a limit. */
export function putField(row: Record<string, unknown>, path: string, value: FieldValue | undefined): void {
  const counts = countsPath.exec(path);
  const keys = counts === null ? path.split('.') : [...(counts[1] ?? '').split('.'), counts[2] ?? ''];
  let place = row;
  for (const key of keys.slice(0, -1)) place = (place[key] ??= {}) as Record<string, unknown>;
  const last = keys.at(-1) ?? '';
  if (value !== undefined) place[last] = value;
  else if (counts === null) place[last] = 'infinite';
  else delete place[last];
}

/** A duration of a specification. */
export const seconds = (text: string | undefined): number | undefined => {
  const milliseconds = text === undefined ? undefined : durationMilliseconds(text);
  return milliseconds === undefined ? undefined : milliseconds / 1000;
};

/** Limits with the time as Slurm keeps it. */
export function withMinutes<T extends { readonly wall?: string }>(limits: T | undefined) {
  if (limits === undefined) return undefined;
  const { wall, ...rest } = limits;
  const inSeconds = seconds(wall);
  return { ...rest, wallMinutes: inSeconds === undefined ? undefined : inSeconds / 60 };
}
