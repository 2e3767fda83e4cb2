/** Whether a pod keeps to a security standard, and in what it does not. Pure. */
import { baselineChecks, replacedByRestricted } from './baseline.ts';
import type { Check, PodView } from './pod-view.ts';
import { restrictedChecks } from './restricted.ts';

export const levels = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof levels)[number];

const checks: Readonly<Record<Level, readonly Check[]>> = {
  privileged: [],
  baseline: baselineChecks,
  restricted: [
    ...baselineChecks.filter((check) => !replacedByRestricted.includes(check)),
    ...restrictedChecks,
  ],
};

/** Each violation as `reason (detail)`; none when the pod may run. */
export function violations(level: Level, pod: PodView): string[] {
  return checks[level].flatMap((check) => {
    const found = check(pod);
    return found === undefined ? [] : [`${found.reason} (${found.detail})`];
  });
}
