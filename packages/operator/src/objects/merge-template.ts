/**
 * Lays a user's part of a pod over the generated one. Lists merge by Kubernetes' own keys; what the user writes wins, also when it
 * is `false`, `0`, `""` or `[]`; `null` takes a field away. Where replacing would undo a safety of ours (tolerations, affinity,
 * DNS searches) the user's part is added instead.
 */
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';

type Json = Record<string, unknown>;

/** Lists whose elements have a name, as the Kubernetes API declares them. */
const listKeys: Record<string, readonly string[]> = {
  containers: ['name'],
  initContainers: ['name'],
  volumes: ['name'],
  env: ['name'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  ports: ['containerPort', 'protocol'],
  imagePullSecrets: ['name'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  resourceClaims: ['name'],
  schedulingGates: ['name'],
};

/** Elements that are a choice of one among several: half of one and half of another is neither. */
const takenWhole = new Set(['volumes', 'env', 'postStart', 'preStop']);
/** Lists to which the user adds. */
const added = new Set(['tolerations', 'searches', 'envFrom', 'args']);
/** Of these pod affinity terms every one must hold, so adding narrows and never loosens. */
const podTerms = new Set([
  'requiredDuringSchedulingIgnoredDuringExecution',
  'preferredDuringSchedulingIgnoredDuringExecution',
]);
const probeHandlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const probes = new Set(['livenessProbe', 'readinessProbe', 'startupProbe']);

export function mergePodSpec(base: IPodSpec, override: Partial<IPodSpec> | undefined): IPodSpec {
  if (override === undefined) return base;
  const { affinity, ...rest } = override;
  const merged = mergeTyped(base, rest);
  return affinity === undefined ? merged : { ...merged, affinity: mergeAffinity(base.affinity, affinity) };
}

export function mergeContainer(base: IContainer, override: Partial<IContainer> | undefined): IContainer {
  return override === undefined ? base : mergeTyped(base, override);
}

/** Both are JSON of one type, and so is the result of merging them. */
const mergeTyped = <T extends object>(base: T, override: Partial<T>): T =>
  mergeObject(base as Json, override) as T;

function mergeObject(base: Json, override: Json): Json {
  const merged: Json = { ...base };
  for (const [field, value] of Object.entries(override)) {
    if (value === undefined) continue;
    if (value === null) delete merged[field];
    else merged[field] = mergeField(field, merged[field], value);
  }
  return merged;
}

function mergeField(field: string, base: unknown, override: unknown): unknown {
  if (base === undefined || base === null || takenWhole.has(field)) {
    if (!Array.isArray(override) || !Array.isArray(base)) return override;
  }
  if (Array.isArray(base) && Array.isArray(override)) return mergeList(field, base, override);
  if (!isObject(base) || !isObject(override)) return override;
  if (probes.has(field) && probeHandlers.some((handler) => handler in override)) {
    const thresholds = Object.fromEntries(
      Object.entries(base).filter(([key]) => !probeHandlers.includes(key)),
    );
    return mergeObject(thresholds, override);
  }
  return mergeObject(base, override);
}

function mergeList(field: string, base: readonly unknown[], override: readonly unknown[]): unknown[] {
  if (added.has(field)) return field === 'args' ? [...base, ...override] : unique([...base, ...override]);
  const keys = listKeys[field];
  if (keys === undefined) return [...override];
  const keyOf = (element: unknown) => keys.map((key) => keyValue(element, key)).join('\u0000');
  const theirs = new Map(override.map((element) => [keyOf(element), element]));
  const merged = base.map((element) => {
    const key = field === 'ports' ? sameName(element, theirs, keyOf) : keyOf(element);
    const other = theirs.get(key);
    theirs.delete(key);
    if (!isObject(other) || !isObject(element)) return element;
    return takenWhole.has(field) ? other : mergeObject(element, other);
  });
  return [...merged, ...theirs.values()];
}

/** A port of a generated name is that port, whatever its number: a pod may not have two ports of one name. */
function sameName(
  element: unknown,
  theirs: ReadonlyMap<string, unknown>,
  keyOf: (element: unknown) => string,
): string {
  const name = isObject(element) ? element['name'] : undefined;
  const [found] =
    [...theirs].find(([, other]) => isObject(other) && name !== undefined && other['name'] === name) ?? [];
  return found ?? keyOf(element);
}

function keyValue(element: unknown, key: string): string {
  if (!isObject(element)) return '';
  // An absent protocol is TCP: the API server would say so too.
  return JSON.stringify(element[key] ?? (key === 'protocol' ? 'TCP' : ''));
}

type Affinity = NonNullable<IPodSpec['affinity']>;

function mergeAffinity(base: Affinity | undefined, override: Affinity): Affinity {
  if (base === undefined) return override;
  const merged: Json = { ...base };
  for (const [kind, value] of Object.entries(override)) {
    const ours = merged[kind];
    if (!isObject(ours) || !isObject(value)) merged[kind] = value;
    else if (kind === 'nodeAffinity') merged[kind] = mergeNodeAffinity(ours, value);
    else merged[kind] = addTerms(ours, value);
  }
  return merged;
}

function addTerms(base: Json, override: Json): Json {
  const merged: Json = { ...base };
  for (const [field, terms] of Object.entries(override)) {
    const ours = merged[field];
    const both = podTerms.has(field) && Array.isArray(ours) && Array.isArray(terms);
    merged[field] = both ? unique([...ours, ...terms]) : terms;
  }
  return merged;
}

interface NodeTerm {
  readonly matchExpressions?: readonly unknown[];
  readonly matchFields?: readonly unknown[];
}

/** Node selector terms are alternatives: both sides hold only where every pair of alternatives is combined. */
function mergeNodeAffinity(base: Json, override: Json): Json {
  const merged = addTerms(base, override);
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const termsOf = (side: Json) =>
    (side[required] as { nodeSelectorTerms?: NodeTerm[] } | undefined)?.nodeSelectorTerms;
  const ours = termsOf(base);
  const theirs = termsOf(override);
  if (ours === undefined || theirs === undefined)
    return {
      ...merged,
      ...(ours && { [required]: base[required] }),
      ...(theirs && { [required]: override[required] }),
    };
  const combined = ours.flatMap((a) =>
    theirs.map((b) => ({
      ...joined('matchExpressions', a, b),
      ...joined('matchFields', a, b),
    })),
  );
  return { ...merged, [required]: { nodeSelectorTerms: combined } };
}

function joined(field: 'matchExpressions' | 'matchFields', a: NodeTerm, b: NodeTerm): Json {
  const all = [...(a[field] ?? []), ...(b[field] ?? [])];
  return all.length === 0 ? {} : { [field]: unique(all) };
}

function unique(elements: readonly unknown[]): unknown[] {
  const seen = new Map(elements.map((element) => [JSON.stringify(element), element]));
  return [...seen.values()];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
