/** Carries out the plan of a StatefulSet at once. */
import { type Live, type Manager, type StatefulSet, statefulSets } from '@slurm-operator/kube';
import { perform } from './carry-out.ts';
import { planStatefulSet } from './plan-workload.ts';

export async function applyStatefulSet(
  manager: Pick<Manager, 'cache' | 'client' | 'owned'>,
  owner: Live,
  desired: StatefulSet,
  signal: AbortSignal,
): Promise<unknown> {
  const live = manager.cache.get(statefulSets, desired.metadata);
  let last: unknown;
  for (const action of planStatefulSet(owner, live, desired))
    last = await perform(action, { manager, owner, signal });
  return last;
}
