/**
 * Two NodeSets of one Controller whose Slurm nodes have the same names. The webhook refuses the second one; where it was not reached,
 * the set that gives way creates no worker and says why.
 */
import type { NodeSet } from '@slurm-operator/api';
import { type Cache, controllerOf, pods } from '@slurm-operator/kube';
import { nodeSets } from '../../../cache/resources.ts';
import type { Problem } from '../../../framework/status/conditions.ts';
import { cachedFacts, problemsIn, type WorkerNames } from '../../../rules/findings.ts';
import { specRules, workerNames } from '../../../rules/spec-rules.ts';

export interface NamedSet extends WorkerNames {
  readonly createdAt: string;
  /** It has workers with these names. */
  readonly usesNames: boolean;
}

/** The NodeSets with the same names before which this one gives way: those that use the names, then the older ones. Pure. */
export function setsWithPrecedence(me: NamedSet, others: readonly NamedSet[]): NamedSet[] {
  if (me.prefix === '') return [];
  return others.filter(
    (other) =>
      other.name !== me.name &&
      other.controller === me.controller &&
      other.prefix === me.prefix &&
      (other.usesNames === me.usesNames ? isBefore(other, me) : other.usesNames),
  );
}

const isBefore = (one: NamedSet, other: NamedSet): boolean =>
  one.createdAt === other.createdAt ? one.name < other.name : one.createdAt < other.createdAt;

/** Everything that the rules for a NodeSet find: a Controller that does not exist, names that another set has. */
export function specProblemsOf(cache: Cache, nodeSet: NodeSet): Problem[] {
  const { namespace } = nodeSet.metadata;
  const own = workerNames(nodeSet);
  const alike = cache.list(nodeSets, { namespace }).filter((other) => {
    const names = workerNames(other);
    return names.name !== own.name && names.controller === own.controller && names.prefix === own.prefix;
  });
  const before =
    alike.length === 0
      ? []
      : setsWithPrecedence(
          named(cache, nodeSet),
          alike.map((other) => named(cache, other as NodeSet)),
        );
  return problemsIn(specRules.NodeSet(nodeSet, cachedFacts(cache, { namespace }, before)));
}

function named(cache: Cache, nodeSet: NodeSet): NamedSet {
  const { namespace, uid, creationTimestamp } = nodeSet.metadata;
  const names = workerNames(nodeSet);
  const isOrdinal = /^\d+$/;
  const usesNames = cache.list(pods, { namespace }).some((pod) => {
    const hostname = pod.spec?.hostname ?? '';
    return (
      controllerOf(pod)?.uid === uid &&
      hostname.startsWith(names.prefix) &&
      isOrdinal.test(hostname.slice(names.prefix.length))
    );
  });
  return { ...names, createdAt: creationTimestamp ?? '', usesNames };
}
