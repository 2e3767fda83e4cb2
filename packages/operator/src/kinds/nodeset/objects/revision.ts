import { createHash } from 'node:crypto';
import { label, type NodeSet } from '@slurm-operator/api';
import type { ControllerRevision, DeepReadonly, Live } from '@slurm-operator/kube';
import { quantityNumber } from '@slurm-operator/kubernetes-values';

/** The parts of a NodeSet whose change makes new workers. */
export function revisionData(nodeSet: NodeSet): string {
  const { template, ordinalPadding, oversubscribeNode, slurmd, extraConf, logfile, ssh } = nodeSet.spec;
  return stableJson({
    spec: { template, ordinalPadding, oversubscribeNode, slurmd, extraConf, logfile, ssh },
  });
}

/** The NodeSet as it was when this revision was recorded, by us or by upstream's operator: what workers are made of is that, the rest is now's. */
export function asOfRevision(nodeSet: NodeSet, data: unknown): NodeSet {
  const parts = JSON.parse(revisionData(nodeSet)) as { spec: Record<string, unknown> };
  const then = (withoutDirectives(data) as { spec?: Record<string, unknown> } | undefined)?.spec ?? {};
  const fields = new Set([...Object.keys(parts.spec), ...Object.keys(then)]);
  const spec = Object.fromEntries([...fields].map((field) => [field, then[field]]));
  return { ...nodeSet, spec: { ...nodeSet.spec, ...spec } };
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives);
  if (typeof value !== 'object' || value === null) return value;
  const said = Object.entries(value).filter(([field]) => field !== '$patch');
  return Object.fromEntries(said.map(([field, inner]) => [field, withoutDirectives(inner)]));
}

/** A short name for them, fit for a label. */
export function revisionHash(nodeSet: NodeSet, collisionCount = 0): string {
  return createHash('sha256')
    .update(revisionData(nodeSet))
    .update(String(collisionCount))
    .digest('hex')
    .slice(0, 10);
}

/**
 * The hash that workers of the present specification carry. A revision is identified by its data, independent of its author: where upstream's
 * operator has already recorded this very specification under a hash of its own, that hash stays, and so do its workers.
 */
export function currentRevision(
  nodeSet: NodeSet,
  recorded: readonly DeepReadonly<ControllerRevision>[],
): string {
  const own = revisionHash(nodeSet, nodeSet.status?.collisionCount ?? 0);
  const hashOf = (revision: DeepReadonly<ControllerRevision>) =>
    revision.metadata.labels?.[label.revision] ?? '';
  if (recorded.some((revision) => hashOf(revision) === own)) return own;
  const wanted = revisionSubstance(JSON.parse(revisionData(nodeSet)));
  const [equal] = recorded
    .filter((revision) => hashOf(revision) !== '' && revisionSubstance(revision.data) === wanted)
    .toSorted((a, b) => b.revision - a.revision);
  return equal === undefined ? own : hashOf(equal);
}

/** A ControllerRevision as plans see it. */
export function recordedRevision({ metadata, revision }: Live<ControllerRevision>) {
  const { name, uid, labels } = metadata;
  return { name, uid, hash: labels?.[label.revision] ?? '', revision };
}

/** A digest of a revision's data, independent of its author. A digest is returned unchanged, because caches keep only that. */
export function revisionSubstance(data: unknown): string {
  if (typeof data === 'string') return data;
  return createHash('sha256')
    .update(stableJson(substance(data)) ?? '')
    .digest('hex');
}

/**
 * What is said, without how: upstream records patch directives, and leaves out or spells out what is empty, zero or false
 * as its types happen to. Undefined for nothing.
 */
function substance(value: unknown): unknown {
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((item) => substance(item) ?? null);
  if (typeof value !== 'object' || value === null)
    return value === '' || value === 0 || value === false || value === null ? undefined : value;
  const said = Object.entries(value)
    .filter(([field]) => field !== '$patch')
    .map(([field, inner]) => [field, amounts.has(field) ? amountsOf(inner) : substance(inner)] as const)
    .filter(([, inner]) => inner !== undefined);
  return said.length === 0 ? undefined : Object.fromEntries(said);
}

/** Fields whose values are quantities: the API server keeps them as written, upstream as it would write them. */
const amounts = new Set(['limits', 'requests']);

function amountsOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return substance(value);
  const said = Object.entries(value).map(([name, amount]) => [
    name,
    quantityNumber(amount as string | number),
  ]);
  return said.length === 0 ? undefined : Object.fromEntries(said);
}

/** JSON with sorted keys: the same content is the same text, in whatever order it was written. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
