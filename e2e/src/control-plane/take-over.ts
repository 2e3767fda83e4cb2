/** Takes the machine of the active slurmctld away, and waits until the standby answers for it. */
import { pods } from '@slurm-operator/kube';
import { controllers } from '@slurm-operator/operator';
import { namespace } from '../slurm-stage.ts';
import { until } from '../until.ts';
import type { ControlPlane } from './control-plane.ts';

export interface TakeOver {
  /** The pod that is active now. */
  readonly active: string;
  readonly seconds: number;
  /** Gives the machine back. */
  comeBack(): Promise<void>;
}

export async function takeOver(plane: ControlPlane): Promise<TakeOver> {
  const controller = await plane.stage.client.get(controllers, { namespace, name: 'slurm' });
  // If it is not reported, it is the first of slurm.conf: it takes over whenever it runs.
  const old = controller.status?.activeController ?? 'slurm-controller-0';
  const active = old.endsWith('-0') ? old.replace(/0$/, '1') : old.replace(/1$/, '0');
  const pod = await plane.stage.client.get(pods, { namespace, name: old });
  const machine = plane.stage.cluster.node(pod.spec?.nodeName ?? '');
  const began = performance.now();
  await machine.stop();
  // Only an active slurmctld answers /readyz. A client would first try the lost one, and measure its own patience.
  if (plane.tellsWhoIsActive)
    await until('the standby to answer', async () => {
      const standby = await plane.stage.client.get(pods, { namespace, name: active });
      return standby.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    });
  const ready = performance.now();
  await until('a command of a user', async () =>
    (await plane.run(active, 'slurmctld', ['timeout', '25', 'scontrol', 'show', 'partition'])).includes(
      'PartitionName=compute',
    ),
  );
  const seconds = ((plane.tellsWhoIsActive ? ready : performance.now()) - began) / 1000;
  return { active, seconds, comeBack: () => machine.start() };
}
