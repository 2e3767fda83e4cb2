/** The port of slurmctld that Services, pods and workers use: the one of the slurm.conf in force, in which a new one may be held. Pure. */
import type { ConfigMap } from '@slurm-operator/kube';
import { readConf } from '../../../slurm-config/guard/conf-content.ts';
import type { ObservedController } from '../observe.ts';
import type { ConfigEvidence } from './config-hold.ts';

export function portIn(slurmConf: string | undefined): number | undefined {
  const value = Number(readConf(slurmConf ?? '').settings.get('slurmctldport'));
  return Number.isInteger(value) && value > 0 ? value : undefined;
}

/** An older operator left no port in the status. */
export function withPortInForce(given: ObservedController, { inForce }: ConfigEvidence): ObservedController {
  const { controller } = given;
  const slurmctldPort = controller.status?.slurmctldPort ?? portIn(inForce?.text);
  if (controller.spec.external || slurmctldPort === undefined) return given;
  return { ...given, controller: { ...controller, status: { ...controller.status, slurmctldPort } } };
}

/** What the status says after a plan: a configuration that is not in force yet moves nothing. */
export const portAfter = (
  before: number | undefined,
  config: ConfigMap | undefined,
  isInForce: boolean,
): number | undefined => (isInForce ? portIn(config?.data?.['slurm.conf']) : undefined) ?? before;
