/** The labels of a namespace: their values must exist, and a stricter level warns about the pods in the namespace. */

import type { FieldFault } from '../../api/errors.ts';
import { invalidValue } from '../../api/fault.ts';
import type { KubeObject } from '../../api/types.ts';
import { PREFIX, podOf, policyOf } from './policy.ts';
import { levels, violations } from './violations.ts';

export function labelFaults({ metadata: { labels = {} } }: KubeObject): FieldFault[] {
  const faults: FieldFault[] = [];
  const check = (name: string, holds: (value: string) => boolean, rule: string) => {
    const value = labels[`${PREFIX}${name}`];
    if (value !== undefined && !holds(value))
      faults.push(invalidValue(`metadata.labels[${PREFIX}${name}]`, value, rule));
  };
  for (const mode of ['enforce', 'warn', 'audit']) {
    check(mode, (value) => levels.some((level) => level === value), `must be one of ${levels.join(', ')}`);
    check(`${mode}-version`, (value) => /^(?:latest|v1\.\d+)$/.test(value), 'must be "latest" or "v1.x"');
  }
  return faults;
}

/** Pods with the same faults are told together. */
function firstOf([first = '', ...others]: readonly string[]): string {
  if (others.length === 0) return first;
  return `${first} (and ${others.length} other pod${others.length === 1 ? '' : 's'})`;
}

/** Offenders that are told one by one. */
const MOST = 10;

/** The warnings for a namespace whose enforced level became another one while it has pods. */
export function tighteningWarnings(
  before: KubeObject,
  after: KubeObject,
  pods: readonly KubeObject[],
): string[] {
  const { level, text } = policyOf(after, 'enforce');
  if (policyOf(before, 'enforce').level === level) return [];
  const byReasons = new Map<string, string[]>();
  for (const object of pods) {
    const pod = podOf('pods', object);
    const found = pod === undefined ? [] : violations(level, pod);
    if (found.length === 0) continue;
    const reasons = found.map((one) => one.slice(0, one.indexOf(' ('))).join(', ');
    byReasons.set(reasons, [...(byReasons.get(reasons) ?? []), object.metadata.name ?? '']);
  }
  if (byReasons.size === 0) return [];
  const offenders = [...byReasons].map(([reasons, names]) => `${firstOf(names)}: ${reasons}`);
  return [
    `existing pods in namespace "${after.metadata.name}" violate the new PodSecurity enforce level "${text}"`,
    ...offenders.slice(0, MOST),
    ...(offenders.length > MOST ? [`and ${offenders.length - MOST} more`] : []),
  ];
}
