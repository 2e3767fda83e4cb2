/** Keeps the rules of aggregating ClusterRoles up to date, so that what is shown is what holds. */

import { clone, equal } from '../api/json.ts';
import { typed } from '../api/typed.ts';
import type { KubeObject } from '../api/types.ts';
import type { Store } from '../store/store.ts';
import type { PolicyRule } from './policy-rule.ts';
import { aggregatedRules, type RoleObject, rbacObjects } from './rule-resolver.ts';

const CLUSTER_ROLES = 'rbac.authorization.k8s.io/clusterroles';

/** Writes the aggregated rules into every role that aggregates and has others; the rest is left alone. */
export function refreshAggregates(store: Store): void {
  const objects = rbacObjects(store);
  for (const stored of store.list(CLUSTER_ROLES)) {
    const role = typed<RoleObject>(stored);
    if (role.aggregationRule === undefined) continue;
    const rules = distinct(aggregatedRules(objects, role));
    const shown = rules.length === 0 ? null : rules;
    if (equal(role.rules ?? null, shown)) continue;
    const next = clone(stored) as KubeObject & { rules: unknown };
    next.rules = clone(shown);
    store.replace(CLUSTER_ROLES, next, stored.metadata.resourceVersion ?? '');
  }
}

function distinct(rules: readonly PolicyRule[]): PolicyRule[] {
  return rules.filter((rule, index) => rules.findIndex((other) => equal(other, rule)) === index);
}
