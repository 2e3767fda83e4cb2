/**
 * Transforms reduce objects before they are cached. {@link project} keeps only the fields a program reads and shares equal parts
 * between objects: a pod of 7 KB takes about 13 KB of heap as parsed, and less than 1.5 KB after it.
 */
import type { KubeObject, Live } from '../objects/object.ts';
import { SharedValues } from './shared-values.ts';

export interface ProjectionOptions {
  /**
   * Paths to keep, such as `spec.nodeName`, `status.conditions.type` (lists are walked through) or `status.hostIPs`
   * (everything below it). The identity, times, labels, owners and finalizers in `metadata` are always kept.
   */
  readonly keep: readonly string[];
  /** Paths below which equal values, and equal parts of different ones, are stored once: labels, conditions, node names. */
  readonly share?: readonly string[];
}

const ALWAYS = [
  'apiVersion',
  'kind',
  ...[
    'name',
    'namespace',
    'uid',
    'resourceVersion',
    'generation',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'labels',
    'ownerReferences',
    'finalizers',
  ].map((field) => `metadata.${field}`),
];
const ALWAYS_SHARED = [
  'apiVersion',
  'kind',
  'metadata.namespace',
  'metadata.labels',
  'metadata.ownerReferences',
];

interface Plan {
  /** Undefined: keep all below. */
  fields: Map<string, Plan> | undefined;
  shared: boolean;
}

/** A transform for {@link InformerOptions} that keeps the given paths. */
export function project<T extends KubeObject>(options: ProjectionOptions): Transform<T> {
  const plan: Plan = { fields: new Map(), shared: false };
  for (const path of [...ALWAYS, ...options.keep]) reach(plan, path).fields = undefined;
  for (const path of [...ALWAYS_SHARED, ...(options.share ?? [])]) find(plan, path).shared = true;
  const pool = new SharedValues();
  return (object) => pick(object, plan, pool) as Live<T>;
}

/** The plan node of a path, created if it is missing. */
function reach(plan: Plan, path: string): Plan {
  let at = plan;
  for (const step of path.split('.')) {
    if (at.fields === undefined) return at;
    const next = at.fields.get(step) ?? { fields: new Map<string, Plan>(), shared: false };
    at.fields.set(step, next);
    at = next;
  }
  return at;
}

function find(plan: Plan, path: string): Plan {
  let at: Plan | undefined = plan;
  for (const step of path.split('.')) at = at?.fields?.get(step);
  if (at === undefined) throw new TypeError(`share: "${path}" is not in keep`);
  return at;
}

function pick(value: unknown, plan: Plan, pool: SharedValues): unknown {
  const kept = plan.fields === undefined ? value : strip(value, plan.fields, pool);
  return plan.shared ? pool.share(kept) : kept;
}

function strip(value: unknown, fields: Map<string, Plan>, pool: SharedValues): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => strip(item, fields, pool));
  if (typeof value !== 'object' || value === null) return value;
  const kept: Record<string, unknown> = {};
  // In the order of the plan: objects with the same fields then share their layout too.
  for (const [name, plan] of fields) {
    const inner = (value as Record<string, unknown>)[name];
    if (inner !== undefined) kept[name] = pick(inner, plan, pool);
  }
  return kept;
}

/** May change the parsed object in place. Must keep name, namespace, uid and resourceVersion. */
export type Transform<T extends KubeObject> = (object: Live<T>) => Live<T>;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The default: drops `managedFields` and kubectl's last-applied annotation. */
export function dropBookkeeping<T extends KubeObject>(object: Live<T>): Live<T> {
  const { metadata } = object;
  if (metadata.managedFields === undefined && metadata.annotations?.[LAST_APPLIED] === undefined)
    return object;
  const { managedFields: _, ...kept } = metadata as Record<string, unknown>;
  if (metadata.annotations?.[LAST_APPLIED] !== undefined) {
    const { [LAST_APPLIED]: __, ...annotations } = metadata.annotations;
    kept['annotations'] = annotations;
  }
  return { ...object, metadata: kept } as Live<T>;
}
