/** Carries out the actions of a plan, in their order. */
import { AlreadyExistsError, type Live, type Manager, type Patch } from '@slurm-operator/kube';
import { type Action, type CustomAction, type PatchAction, titleOf } from './actions.ts';
import type { Steps } from './steps.ts';

export interface ActingFor {
  readonly manager: Pick<Manager, 'client' | 'owned'>;
  readonly owner: Live;
  readonly steps: Steps;
  readonly signal: AbortSignal;
}

/** Each action fails on its own; what needs a failed one is skipped. `succeeded` gets those that did, also if the rest is aborted. */
export async function carryOut<Custom extends CustomAction>(
  actions: readonly (Action | Custom)[],
  acting: ActingFor,
  custom: (action: Custom) => Promise<unknown>,
  succeeded: Set<object>,
): Promise<void> {
  const missed = new Set<string>();
  for (const action of actions) {
    const title = titleOf(action);
    const skipped = action.needs?.some((need) => missed.has(need)) ?? false;
    const work = (): Promise<unknown> => ('title' in action ? custom(action) : perform(action, acting));
    if (!skipped && (await acting.steps.run(title, work))) succeeded.add(action);
    else missed.add(title);
  }
}

async function perform(action: Action, { manager, owner, signal }: ActingFor): Promise<unknown> {
  const { client, owned } = manager;
  switch (action.type) {
    case 'Apply': {
      if (action.owned === false) return client.apply(action.resource, action.object, { signal });
      const adopt = action.adopt === undefined ? {} : { adopt: action.adopt };
      return owned.apply(action.resource, owner, action.object, { ...adopt, signal });
    }
    case 'Create':
      return unlessItExists(client.create(action.resource, action.object, { signal }));
    case 'Patch':
      return client.patch(action.resource, action.ref, patchOf(action), { signal });
    case 'Delete': {
      const { uid, propagation, gracePeriodSeconds } = action;
      return client.delete(action.resource, action.ref, {
        uid,
        ...(propagation === undefined ? {} : { propagation }),
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        signal,
      });
    }
    default:
      return action satisfies never;
  }
}

const patchOf = ({ patch = 'merge', body }: PatchAction): Patch => ({ type: patch, body }) as Patch;

async function unlessItExists(request: Promise<unknown>): Promise<unknown> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof AlreadyExistsError) return undefined;
    throw error;
  }
}
