import { annotation, type Controller, conditionType } from '@slurm-operator/api';
import { type Deployment, findCondition, type Live } from '@slurm-operator/kube';
import type { Read } from '../../objects/read.ts';

/**
 * slurmrestd reads slurm.conf once, when it starts. One that is recreated because of something in that file must not start
 * before the file is there: a slurmrestd that began without accounting would never know of any.
 */
export function waitsForConfig(
  controller: Read<Controller>,
  live: Live<Deployment> | undefined,
  wanted: Read<Deployment>,
): boolean {
  if (live === undefined || controller.spec.external) return false;
  const reads = ({ spec }: Read<Deployment>) =>
    spec?.template.metadata?.annotations?.[annotation.slurmConfigHash];
  if (reads(live) === reads(wanted)) return false;
  const { status, metadata } = controller;
  const current = status?.observedGeneration === metadata.generation;
  const applied = findCondition(status?.conditions, conditionType.configApplied);
  // What is held back are old lines for jobs: slurmctld has read everything else.
  return !current || (applied?.status !== 'True' && applied?.reason !== 'ConfigHeld');
}
