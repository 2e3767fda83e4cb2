/** What a NodeSet says while its Controller cannot put a new slurm.conf in force, and it needs one. Pure. */
import type { Problem } from '../../../framework/status/conditions.ts';
import type { Observed } from '../model/observed.ts';

/** Undefined: it needs none, as far as is known here. */
export function refusedLines(observed: Observed): Problem | undefined {
  const { configLines, deleting, partition } = observed;
  const { state, held, refused } = configLines;
  if (refused === undefined || state === 'external') return undefined;
  if (!deleting)
    return state === 'absent'
      ? {
          reason: refused,
          message: `slurm.conf does not contain this NodeSet yet: ${refusalOf(observed)}.`,
        }
      : undefined;
  if (state === 'absent') return undefined;
  const open =
    partition === undefined
      ? ''
      : ` Until then partition ${partition} accepts jobs: close it with "scontrol update partition=${partition} state=drain".`;
  return {
    reason: refused,
    message: [`slurm.conf still contains this NodeSet: ${refusalOf(observed)}.${open}`, ...held].join(' '),
  };
}

export const refusalOf = ({ configLines, controllerName }: Observed): string =>
  configLines.refused === 'ConfigUntried'
    ? `the new configuration of Controller ${controllerName} could not be tried yet (see its condition ConfigApplied)`
    : `the new configuration of Controller ${controllerName} is rejected (see its condition ConfigApplied, and correct it)`;
