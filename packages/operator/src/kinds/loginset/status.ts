/** What a LoginSet reports about itself. Pure. */
import { annotation, app, label } from '@slurm-operator/api';
import { digestBehind } from '../../cache/references.ts';
import type { Outcome, StatusReport } from '../../framework/define-reconciler.ts';
import { type Trouble, verdicts } from '../../framework/status/judge.ts';
import { podTroubles } from '../../framework/status/pods.ts';
import { deploymentTroubles } from '../../framework/status/workload.ts';
import { keysVerdict } from '../../keys/keys-verdict.ts';
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
      ...verdicts([...known, ...workload, ...specProblems], 'Users can log in.'),
      keysVerdict(observed.pods, desiredKeys(observed)),
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

function workloadProblems({ loginSet, deployment, pods }: ObservedLoginSet): Trouble[] {
  const { replicas } = loginSet.spec;
  if (replicas > 0 && (deployment?.status?.readyReplicas ?? 0) === 0) {
    const [first] = podTroubles(pods, loginSet.metadata.namespace, 'No login node is ready yet.');
    if (first !== undefined) return [first];
  }
  return deploymentTroubles(deployment, replicas);
}
