/** Takes the machine of the active slurmctld away, and waits until the standby answers for it. */
import { pods } from '@slurm-operator/kube';
import { controllers } from '@slurm-operator/operator';
import type { ControlPlane } from './control-plane.ts';
import { namespace } from './slurm-stage.ts';

export interface TakeOver {
  /** The pod that is active now. */
  readonly active: string;
  readonly seconds: number;
  /** Gives the machine back. */
  comeBack(): Promise<void>;
}

export async function takeOver(plane: ControlPlane): Promise<TakeOver> {
  const { status } = await plane.stage.client.get(controllers, { namespace, name: 'slurm' });
  const old = status?.activeController ?? '';
  const active = old.endsWith('-0') ? old.replace(/0$/, '1') : old.replace(/1$/, '0');
  const pod = await plane.stage.client.get(pods, { namespace, name: old });
  const machine = plane.stage.cluster.node(pod.spec?.nodeName ?? '');
  const began = performance.now();
  await machine.stop();
  await plane.eventually(
    'the standby to answer',
    async () => {
      // Asked in the pod of the standby: an answer there is an answer of an active slurmctld.
      const answer = await plane.run(active, 'slurmctld', ['timeout', '5', 'scontrol', 'show', 'partition']);
      return answer.includes('PartitionName=compute');
    },
    120,
  );
  const seconds = (performance.now() - began) / 1000;
  return { active, seconds, comeBack: () => machine.start() };
}
