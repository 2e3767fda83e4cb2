/** Objects that all NodeSets of a Controller share, and the ssh configuration of one. Pure. */
import type { Controller, NodeSet } from '@slurm-operator/api';
import {
  configMaps,
  covers,
  type Live,
  type ObjectRef,
  podDisruptionBudgets,
  services,
} from '@slurm-operator/kube';
import type { Action, PatchAction } from '../../../framework/actions.ts';
import { ownerOfShared, workersBudget, workersService } from '../objects/shared-objects.ts';
import { workerSshConfig } from '../objects/worker-ssh.ts';

interface SharedObject {
  readonly metadata: ObjectRef & Partial<Pick<Live['metadata'], 'ownerReferences'>>;
  readonly spec?: unknown;
}

export interface ObservedShared {
  readonly service: SharedObject | undefined;
  readonly budget: SharedObject | undefined;
}

/**
 * The shared ones are created where missing: they depend on nothing that changes, so a live one is left alone. But upstream's belong to
 * the NodeSets that were there then, and would go with the last of them, under the workers of those that came later.
 */
export function planShared(
  nodeSet: NodeSet,
  controller: Controller | undefined,
  { service, budget: live }: ObservedShared,
): Action[] {
  if (controller === undefined) return [];
  const actions: Action[] = [];
  if (service === undefined)
    actions.push({ type: 'Apply', resource: services, object: workersService(controller), owned: false });
  else actions.push(...patched(services, service, ownedBy(controller, service)));
  const budget = workersBudget(controller);
  if (live === undefined)
    actions.push({ type: 'Apply', resource: podDisruptionBudgets, object: budget, owned: false });
  else {
    // Another operator's: as a whole, since the two ways to say it exclude each other.
    const spec = covers(live.spec, budget.spec) ? [] : [{ op: 'replace', path: '/spec', value: budget.spec }];
    actions.push(...patched(podDisruptionBudgets, live, [...ownedBy(controller, live), ...spec]));
  }
  const ssh = workerSshConfig(nodeSet);
  if (ssh !== undefined) actions.push({ type: 'Apply', resource: configMaps, object: ssh });
  return actions;
}

/** The Controller as an owner beside those that the object has. Several NodeSets may ask for it at once: all write the same. */
function ownedBy(controller: Controller, { metadata: { ownerReferences = [] } }: SharedObject): object[] {
  if (ownerReferences.some(({ uid }) => uid === controller.metadata.uid)) return [];
  const value = [...ownerReferences, ownerOfShared(controller)];
  return [{ op: 'add', path: '/metadata/ownerReferences', value }];
}

function patched(resource: PatchAction['resource'], { metadata }: SharedObject, body: object[]): Action[] {
  const { namespace, name } = metadata;
  const ref = namespace === undefined ? { name } : { namespace, name };
  return body.length === 0 ? [] : [{ type: 'Patch', resource, ref, patch: 'json', body }];
}
