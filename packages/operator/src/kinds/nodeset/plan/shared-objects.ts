/** Objects that all NodeSets of a Controller share, and the ssh configuration of one. Pure. */
import type { Controller, NodeSet } from '@slurm-operator/api';
import { configMaps, covers, type ObjectRef, podDisruptionBudgets, services } from '@slurm-operator/kube';
import type { Action } from '../../../framework/actions.ts';
import { workersBudget, workersService } from '../objects/shared-objects.ts';
import { workerSshConfig } from '../objects/worker-ssh.ts';

export interface ObservedShared {
  readonly hasService: boolean;
  readonly budget: { readonly metadata: ObjectRef; readonly spec?: unknown } | undefined;
}

/** The shared ones are created where missing: they depend on nothing that changes, so a live one is left alone. */
export function planShared(
  nodeSet: NodeSet,
  controller: Controller | undefined,
  { hasService, budget: live }: ObservedShared,
): Action[] {
  if (controller === undefined) return [];
  const actions: Action[] = [];
  if (!hasService)
    actions.push({ type: 'Apply', resource: services, object: workersService(controller), owned: false });
  const budget = workersBudget(controller);
  if (live === undefined)
    actions.push({ type: 'Apply', resource: podDisruptionBudgets, object: budget, owned: false });
  else if (!covers(live.spec, budget.spec)) {
    // Another operator's: as a whole, since the two ways to say it exclude each other.
    const body = [{ op: 'replace', path: '/spec', value: budget.spec }];
    actions.push({ type: 'Patch', resource: podDisruptionBudgets, ref: live.metadata, patch: 'json', body });
  }
  const ssh = workerSshConfig(nodeSet);
  if (ssh !== undefined) actions.push({ type: 'Apply', resource: configMaps, object: ssh });
  return actions;
}
