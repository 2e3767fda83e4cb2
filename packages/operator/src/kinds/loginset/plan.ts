/** What to do for a LoginSet. Pure. */
import { resourceName } from '@slurm-operator/api';
import { configMaps, services } from '@slurm-operator/kube';
import { digestBehind, refProblems } from '../../cache/references.ts';
import { type Action, type CustomAction, titleOf } from '../../framework/actions.ts';
import type { Plan } from '../../framework/define-reconciler.ts';
import { planDeployment } from '../../framework/plan-workload.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { digestOf } from '../../objects/digest.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import { buildLoginDeployment, buildLoginService, buildSshConfig } from './objects/login.ts';
import type { ObservedLoginSet } from './observe.ts';

/** Creates the SSH host keys. Once: users are warned of a changed host when they change. */
export interface CreateHostKeys extends CustomAction {
  readonly type: 'CreateHostKeys';
  readonly loginSet: ObservedLoginSet['loginSet'];
}

export type LoginSetPlan = Plan<CreateHostKeys>;

export function planLoginSet(observed: ObservedLoginSet, defaults: OperatorDefaults): LoginSetPlan {
  const { loginSet, controller, deployment, hostKeys, secrets } = observed;
  const sshConfig: Action = { type: 'Apply', resource: configMaps, object: buildSshConfig(loginSet) };
  const actions: (Action | CreateHostKeys)[] = [
    ...(hostKeys === undefined ? [createHostKeys(loginSet)] : []),
    sshConfig,
    { type: 'Apply', resource: services, object: buildLoginService(loginSet) },
  ];
  if (controller === undefined) return { actions, problems: [] };
  const problems = missingKeys(observed);
  // A running login node is left as it is; one that could only hang is not started.
  if (hostKeys === undefined || (problems.length > 0 && deployment === undefined))
    return { actions, problems };
  const desired = buildLoginDeployment({
    loginSet,
    controller,
    defaults,
    hashes: {
      slurmKey: observed.slurmKeyDigest ?? '',
      sssdConf: digestBehind(secrets, loginSet.spec.sssdConfRef),
      hostKeys: digestOf(hostKeys),
    },
  });
  for (const action of planDeployment(loginSet, deployment, desired))
    actions.push({ ...action, needs: [titleOf(sshConfig)] });
  return { actions, problems };
}

function missingKeys({ loginSet, secrets, slurmKeyDigest }: ObservedLoginSet): Problem[] {
  const { controllerRef, sssdConfRef } = loginSet.spec;
  const problems = refProblems('Secret', 'sssdConfRef', sssdConfRef, secrets, loginSet.metadata.namespace);
  if (slurmKeyDigest === '')
    problems.push({
      reason: 'SecretNotFound',
      message: `the Slurm key of Controller ${controllerRef.name} is missing: login nodes need it to connect to Slurm.`,
    });
  return problems;
}

const createHostKeys = (loginSet: ObservedLoginSet['loginSet']): CreateHostKeys => ({
  type: 'CreateHostKeys',
  title: `Secret ${resourceName.sshHostKeys(loginSet.metadata.name)}`,
  loginSet,
});
