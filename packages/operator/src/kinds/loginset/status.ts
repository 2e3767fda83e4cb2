/** What a LoginSet reports about itself. Pure. */
import { annotation, app, label } from '@slurm-operator/api';
import { digestBehind } from '../../cache/references.ts';
import type { Outcome, StatusReport } from '../../framework/define-reconciler.ts';
import { type Problem, summaryConditions } from '../../framework/status/conditions.ts';
import { podProblems } from '../../framework/status/pods.ts';
import { deploymentProblems } from '../../framework/status/problem-of.ts';
import { keysCondition } from '../../keys/keys-condition.ts';
import type { ObservedLoginSet } from './observe.ts';
import type { LoginSetPlan } from './plan.ts';

export function loginSetStatus({
  observed,
  problems,
}: Outcome<ObservedLoginSet, LoginSetPlan>): StatusReport {
  const { loginSet, deployment, controller, specProblems } = observed;
  const known = controller === undefined ? [...specProblems, ...problems] : problems;
  const workload = known.length === 0 ? workloadProblems(observed) : [];
  return {
    fields: {
      replicas: deployment?.status?.replicas ?? 0,
      readyReplicas: deployment?.status?.readyReplicas ?? 0,
      selector: `${label.name}=${app.login},${label.instance}=${loginSet.metadata.name}`,
    },
    conditions: [
      ...summaryConditions([...known, ...workload, ...specProblems], 'Users can log in.'),
      keysCondition(observed.pods, desiredKeys(observed)),
    ],
  };
}

/** The key and sssd.conf are copied when a login node starts: a new one needs a new pod. */
function desiredKeys({ loginSet, secrets, slurmKeyDigest }: ObservedLoginSet): Record<string, string> {
  return {
    ...(slurmKeyDigest === undefined ? {} : { [annotation.slurmKeyHash]: slurmKeyDigest }),
    [annotation.sssdConfHash]: digestBehind(secrets, loginSet.spec.sssdConfRef),
  };
}

function workloadProblems({ loginSet, deployment, pods }: ObservedLoginSet): Problem[] {
  const { replicas } = loginSet.spec;
  if (replicas > 0 && (deployment?.status?.readyReplicas ?? 0) === 0) {
    const [first] = podProblems(pods, loginSet.metadata.namespace, 'No login node is ready yet.');
    if (first !== undefined) return [first];
  }
  return deploymentProblems(deployment, replicas);
}
