/** pods/eviction: a delete that asks the disruption budgets first. */

import { selectorMatches } from '@slurm-operator/kubernetes-values';
import { ApiError, badRequest, conflict, notFound, objectModified } from '../../api/errors.ts';
import { clone } from '../../api/json.ts';
import { typed, untyped } from '../../api/typed.ts';
import { type KubeObject, timestamp } from '../../api/types.ts';
import { updateManagedFields } from '../../apply/field-manager.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import type { ActionSubresource } from '../../resource/resource-definition.ts';
import { deleteObject } from '../delete-object.ts';
import { admitActionObject, readActionObject, successStatus } from './action-object.ts';
import { type DisruptionBudget, decideEviction, takeFromBudget } from './eviction-budget.ts';

const KIND = { group: 'policy', version: 'v1', kind: 'Eviction' };
const PODS = { group: '', resource: 'pods' };
const BUDGETS = 'policy/poddisruptionbudgets';

interface Eviction {
  readonly deleteOptions?: {
    readonly gracePeriodSeconds?: number;
    readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
    readonly dryRun?: readonly string[];
  };
}

export const eviction: ActionSubresource = {
  type: 'action',
  verbs: ['create'],
  kind: KIND,
  async handle(context, definition) {
    const { name, namespace } = context.info;
    const read = await readActionObject(context, definition, KIND);
    if (read.object.metadata.name !== name)
      throw badRequest('name in URL does not match name in Eviction object');
    podOf(context);
    const { deleteOptions = {} } = typed<Eviction>(read.object);
    const dryRun = read.options.dryRun || (deleteOptions.dryRun ?? []).length > 0;
    await admitActionObject(context, definition, KIND, read, dryRun);
    const { preconditions, gracePeriodSeconds } = deleteOptions;
    const decision = decideEviction(podOf(context), budgetsOf(context));
    if (decision.outcome === 'refused') throw decision.error;
    if (decision.outcome === 'within-budget' && !dryRun) chargeBudget(context, decision.budget);
    if (!dryRun) markEvicted(context);
    await deleteObject(context, definition, namespace, name, {
      dryRun,
      // The eviction itself has been admitted; the delete it causes is not admitted again.
      admitted: true,
      review: {},
      ...(preconditions === undefined ? {} : { preconditions }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    });
    return { type: 'object', status: 201, object: successStatus(201) };
  },
};

function podOf({ parts, info }: RequestContext): KubeObject {
  const pod = parts.store.get('/pods', info.namespace, info.name);
  if (pod === undefined) throw notFound(PODS, info.name);
  return pod;
}

function budgetsOf(context: RequestContext): DisruptionBudget[] {
  const { labels } = podOf(context).metadata;
  return context.parts.store
    .list(BUDGETS, context.info.namespace)
    .map((object) => typed<DisruptionBudget>(object))
    .filter((budget) => selectorMatches(budget.spec?.selector, labels));
}

function chargeBudget(context: RequestContext, budget: DisruptionBudget): void {
  const { store, registry, environment } = context.parts;
  const definition = registry.find('policy', 'v1', 'poddisruptionbudgets');
  if (definition === undefined) throw new ApiError(500, '', 'disruption budgets are not served');
  const time = timestamp(environment.now());
  const charged = untyped(takeFromBudget(budget, context.info.name, time));
  const noted = updateManagedFields(registry, untyped(budget), charged, {
    definition,
    subresource: 'status',
    manager: 'kube-apiserver',
    apiVersion: 'policy/v1',
    time,
  });
  const outcome = store.replace(BUDGETS, noted, budget.metadata.resourceVersion ?? '');
  if (!outcome.done)
    throw conflict(
      { group: 'policy', resource: 'poddisruptionbudgets' },
      budget.metadata.name ?? '',
      objectModified,
    );
}

/** Says on the pod itself why it ends, so that its owner can tell an eviction from a crash. */
function markEvicted(context: RequestContext): void {
  const stored = podOf(context);
  const { status } = typed<{ status?: { conditions?: { type: string }[] } }>(stored);
  if (stored.metadata.deletionTimestamp !== undefined) return;
  const pod = clone(stored);
  const conditions = (status?.conditions ?? []).filter((condition) => condition.type !== 'DisruptionTarget');
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(context.parts.environment.now()),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  pod['status'] = { ...status, conditions: [...conditions, target] };
  context.parts.store.replace('/pods', pod, stored.metadata.resourceVersion ?? '');
}
