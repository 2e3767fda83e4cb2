/** The LoginSet controller: login nodes in front of a Controller. */
import { AlreadyExistsError, controllerReference, secrets } from '@slurm-operator/kube';
import { loginSets } from '../../cache/resources.ts';
import {
  defineReconciler,
  type Reconcile,
  type ReconcilerManager,
} from '../../framework/define-reconciler.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import { makeHostKeys } from './host-keys.ts';
import { buildHostKeys } from './objects/login.ts';
import { observeLoginSet } from './observe.ts';
import { type CreateHostKeys, planLoginSet } from './plan.ts';
import { loginSetStatus } from './status.ts';

export const loginSetReconciler = (manager: ReconcilerManager, defaults: OperatorDefaults): Reconcile =>
  defineReconciler(manager, {
    resource: loginSets,
    observe: (loginSet) => observeLoginSet(manager.cache, loginSet),
    plan: (observed) => planLoginSet(observed, defaults),
    act: (action, { signal }) => createHostKeys(manager, action, signal),
    status: loginSetStatus,
  });

async function createHostKeys(
  { client, recorder }: ReconcilerManager,
  { loginSet }: CreateHostKeys,
  signal: AbortSignal,
): Promise<void> {
  const secret = buildHostKeys(loginSet, await makeHostKeys());
  const ownerReferences = [controllerReference(loginSet)];
  try {
    // Created, never applied: with a stale cache an apply would replace existing keys.
    await client.create(
      secrets,
      { ...secret, metadata: { ...secret.metadata, ownerReferences } },
      { signal },
    );
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    return;
  }
  const { name } = secret.metadata;
  recorder.normal(loginSet, 'HostKeysCreated', `Created the SSH host keys in Secret ${name}`, 'Create');
}
