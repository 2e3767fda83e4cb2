/** Carries out the actions of a plan, in their order. */
import type { Live, Manager } from '@slurm-operator/kube';
import { type Action, type CustomAction, titleOf } from './actions.ts';
import type { Steps } from './steps.ts';

export interface ActingFor {
  readonly manager: Pick<Manager, 'client' | 'owned'>;
  readonly owner: Live;
  readonly steps: Steps;
  readonly signal: AbortSignal;
}

/** Each action fails on its own; what needs a failed one is skipped. The result is the set of actions that succeeded. */
export async function carryOut<Custom extends CustomAction>(
  actions: readonly (Action | Custom)[],
  acting: ActingFor,
  custom: (action: Custom) => Promise<unknown>,
): Promise<ReadonlySet<Action | Custom>> {
  const succeeded = new Set<Action | Custom>();
  const missed = new Set<string>();
  for (const action of actions) {
    const title = titleOf(action);
    const skipped = action.needs?.some((need) => missed.has(need)) ?? false;
    const work = (): Promise<unknown> => ('title' in action ? custom(action) : perform(action, acting));
    if (!skipped && (await acting.steps.run(title, work))) succeeded.add(action);
    else missed.add(title);
  }
  return succeeded;
}

export async function perform(
  action: Action,
  { manager, owner, signal }: Omit<ActingFor, 'steps'>,
): Promise<unknown> {
  const { client, owned } = manager;
  switch (action.type) {
    case 'Apply': {
      const adopt = action.adopt === undefined ? {} : { adopt: action.adopt };
      return owned.apply(action.resource, owner, action.object, { ...adopt, signal });
    }
    case 'Patch':
      return client.mergePatch(action.resource, action.ref, action.body, { signal });
    case 'Delete': {
      const propagation = action.propagation === undefined ? {} : { propagation: action.propagation };
      return client.delete(action.resource, action.ref, { uid: action.uid, ...propagation, signal });
    }
  }
}
