/** By whom or by what a Slurm node was taken out of service: a bounded list of words, from the reason that Slurm keeps. Pure. */
import { reasonPrefix } from '@slurm-operator/api';
import type { SlurmNode } from '@slurm-operator/slurm';

/**
 * `removal`: the operator removes the worker. `node-cordon`: its Kubernetes Node is cordoned. `node-condition`: its Kubernetes Node has a
 * condition that drains. `pod-cordon`: someone cordoned its pod. `autoscale`: a sleeping node that is not offered to jobs. `operator`: the
 * operator, for another reason. `health-check`: a health check of the site. `slurm`: slurmctld or slurmd. `person`: anyone else.
 */
export const drainClasses = [
  'removal',
  'node-cordon',
  'node-condition',
  'pod-cordon',
  'autoscale',
  'operator',
  'health-check',
  'slurm',
  'person',
] as const;
export type DrainClass = (typeof drainClasses)[number];

/** After our prefix. */
const ours: readonly (readonly [RegExp, DrainClass])[] = [
  [/^Node condition /, 'node-condition'],
  [/^Pod \(.*\) is pending termination for /, 'removal'],
  [/^the worker behind this node is gone/, 'removal'],
  [/^the containers of Pod \(.*\) have ended/, 'removal'],
  [/^Pod \(.*\) was cordoned/, 'pod-cordon'],
  [/^Node \(.*\) was cordoned/, 'node-cordon'],
  [/^(no wake-up before |autoscale\.)/, 'autoscale'],
];

/** What slurmctld and slurmd write themselves. */
const slurms =
  /^(not responding|node unexpectedly rebooted|resumetimeout reached|(scheduled )?reboot|low |gres\/|duplicate jobid|(prolog|epilog|spank) |(batch job|job) (launch|complete)|kill task failed|step not running|none$)/i;

/** LBNL Node Health Check writes NHC; the others are the usual words of HealthCheckProgram scripts. */
const checks = /^(nhc\b|\[?(node_problem|health[ _-]?check)|hc[:_])/i;

export function drainClass({ reason, reasonSetBy }: Pick<SlurmNode, 'reason' | 'reasonSetBy'>): DrainClass {
  if (reason.startsWith(reasonPrefix)) {
    const text = reason.slice(reasonPrefix.length);
    return ours.find(([pattern]) => pattern.test(text))?.[1] ?? 'operator';
  }
  if (checks.test(reason)) return 'health-check';
  // A person may set them by hand as root or slurm, but not in these words.
  return slurms.test(reason) && ['slurm', 'root', ''].includes(reasonSetBy) ? 'slurm' : 'person';
}
