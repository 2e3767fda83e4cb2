/** What the status of a Deployment means for the object that owns it. Pure. */
import type { Deployment, Live } from '@slurm-operator/kube';
import type { Problem } from './conditions.ts';
import { refusedWords } from './problem-of.ts';

export function deploymentProblems(deployment: Live<Deployment> | undefined, replicas: number): Problem[] {
  if (replicas === 0) return [{ reason: 'ScaledToZero', message: 'spec.replicas is 0: nothing runs.' }];
  const ready = deployment?.status?.readyReplicas ?? 0;
  const { conditions = [] } = deployment?.status ?? {};
  const failed = conditions.find((one) => one.type === 'ReplicaFailure' && one.status === 'True');
  if (failed !== undefined) return [refusedWords(failed.message ?? 'Kubernetes refuses to create the pods.')];
  const stuck = conditions.find((one) => one.type === 'Progressing' && one.status === 'False');
  if (stuck !== undefined)
    return [
      {
        reason: ready > 0 ? 'RolloutStuck' : 'PodsNotReady',
        message: `${stuck.message ?? 'The pods do not become ready.'} ${ready} of ${replicas} are ready.`,
      },
    ];
  if (ready === 0) return [{ reason: 'Starting', message: 'No pod is ready yet.', passing: true }];
  return [];
}
