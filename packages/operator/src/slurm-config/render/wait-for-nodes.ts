/**
 * A PrologSlurmctld that ends when the nodes of its job are awake. slurmctld starts a job on woken nodes at one of two moments: when its
 * PrologSlurmctld ends, or at its next check of time limits, every 30 seconds.
 */
import type { NodeSet } from '@slurm-operator/api';
import type { Read } from '../../objects/read.ts';
import { topLevelSettings } from '../parse.ts';

/** Beside slurm.conf. */
export const waitForNodesFile = '.wait-for-nodes';

/** Then the job is left to the check of time limits: what takes minutes may take half a minute more. */
const longest = 100;

/** slurmctld ends a PrologSlurmctld that runs for longer than these, and requeues its job or, where it may not, ends it. */
const timeouts = ['PrologEpilogTimeout', 'PrologTimeout'];
/** A scontrol that waits for a busy slurmctld, and the start of the script. */
const spare = 15;

/** Seconds that the script may take with this slurm.conf. */
export function longestWait(slurmConf: string): number {
  const settings = topLevelSettings(slurmConf);
  const limits = timeouts.flatMap((key) => {
    const seconds = Number(settings.get(key.toLowerCase())?.value ?? Number.NaN);
    return Number.isInteger(seconds) ? [seconds - spare] : [];
  });
  return Math.max(0, Math.min(longest, ...limits));
}

/** What the names of autoscaled Slurm nodes begin with. */
export function autoscaledPrefixes(nodeSets: readonly Read<NodeSet>[]): string[] {
  return nodeSets
    .filter(({ spec }) => spec.autoscale !== undefined && spec.scalingMode !== 'DaemonSet')
    .map(({ metadata, spec }) => spec.template?.spec?.hostname || `${metadata.name}-`)
    .filter((prefix) => /^[a-z0-9.-]+$/i.test(prefix))
    .toSorted();
}

/** So that a thousand jobs that wait do not use up the processes of the container. */
const mostProcesses = 200;

/**
 * It never fails: slurmctld would requeue the job. The wake-up of a node that is DOWN was abandoned, and the job is requeued. scontrol reads
 * all nodes, so the more scripts wait (by the number of processes in this container), the longer each sleeps.
 */
export function waitForNodes(prefixes: readonly string[], seconds = longest): string {
  const pattern = prefixes.map((prefix) => `*${prefix}*`).join(' | ');
  return `#!/bin/sh
# Written by slurm-operator: see https://slurm.schedmd.com/slurm.conf.html#OPT_PrologSlurmctld
${pattern === '' ? 'exit 0' : `case "$SLURM_JOB_NODELIST" in ${pattern}) ;; *) exit 0 ;; esac`}
end=$(($(date +%s) + ${seconds}))
while [ "$(date +%s)" -lt "$end" ]; do
  case "$(scontrol show node "$SLURM_JOB_NODELIST" 2>/dev/null | grep '^ *State=')" in
    *State=DOWN*) exit 0 ;;
    *POWERED_DOWN* | *POWERING_* | *POWER_UP*) ;;
    *) exit 0 ;;
  esac
  set -- /proc/[0-9]*
  if [ $# -gt ${mostProcesses} ]; then exit 0; fi
  nap=$(($# / 8))
  left=$((end - $(date +%s)))
  if [ "$left" -le "$nap" ]; then nap=$((left > 0 ? left : 0)); fi
  sleep "$nap.5"
done
exit 0
`;
}
