/**
 * The trial of everything that is desired, while the guard holds part of it. A wrong value must be found before people close partitions, and
 * before the operator drains nodes, for a change that can never be applied. Pure.
 */
import type { ConfigMap } from '@slurm-operator/kube';
import type { NodeClosing } from '../../../slurm-config/guard/slurm-work.ts';
import type { TrialDecision } from '../../../slurm-config/trial/trial.ts';
import type { ConfigHold } from './config-hold.ts';

export interface DesiredTrial {
  readonly config: ConfigMap;
  readonly digest: string;
  readonly decision: TrialDecision;
}

/**
 * Where only partitions and NodeSets are held, the text in force has every desired line and was tried with them. MaxNodeCount is a number
 * that the schema has checked.
 */
export const needsDesiredTrial = (hold: ConfigHold | undefined): boolean =>
  hold?.waiting !== undefined &&
  !hold.forced &&
  hold.waiting.items.some(
    ({ kind, name }) =>
      (kind === 'Setting' && name !== 'MaxNodeCount') || kind === 'Node' || kind === 'Configuration',
  );

/** Nodes are drained only for a configuration that the daemons accept. */
export function nodesToClose(hold: ConfigHold | undefined, trial: DesiredTrial | undefined): NodeClosing {
  if (hold === undefined || hold.forced) return { close: [], reopen: [] };
  const isAccepted = trial?.decision.kind === 'enforce';
  return { close: isAccepted ? hold.nodes.close : [], reopen: hold.nodes.reopen };
}
