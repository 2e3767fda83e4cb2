/** Groups, their versions and the order of both. */
import type { Registry } from './registry.ts';
import { unservedVersions } from './unserved.ts';

/** Built-in groups in the order of their priority; groups of custom resources follow by name. */
const builtinOrder = [
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
];

export interface ApiGroup {
  readonly name: string;
  /** The preferred one first. */
  readonly versions: readonly string[];
}

/** All groups but the core one. */
export function apiGroups(registry: Registry): ApiGroup[] {
  const versions = new Map<string, Set<string>>();
  const add = (group: string, version: string): void => {
    if (group !== '') versions.set(group, (versions.get(group) ?? new Set()).add(version));
  };
  for (const { group, version } of registry.all()) add(group, version);
  for (const [group, version] of unservedVersions) add(group, version);
  return [...versions]
    .map(([name, found]) => ({ name, versions: [...found].toSorted(byVersion) }))
    .toSorted((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1));
}

export function isBuiltinGroup(group: string): boolean {
  return group === '' || builtinOrder.includes(group);
}

function rank(group: string): number {
  const at = builtinOrder.indexOf(group);
  return at === -1 ? builtinOrder.length : at;
}

/** v2 before v1, released before beta before alpha, anything else by name. */
export function byVersion(a: string, b: string): number {
  const [x, y] = [versionRank(a), versionRank(b)];
  if (x === undefined || y === undefined) {
    if (x !== undefined || y !== undefined) return x === undefined ? 1 : -1;
    return a < b ? -1 : 1;
  }
  return y.stage - x.stage || y.major - x.major || y.minor - x.minor;
}

function versionRank(version: string): { stage: number; major: number; minor: number } | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!match) return undefined;
  const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return { stage, major: Number(match[1]), minor: Number(match[3] ?? 0) };
}
