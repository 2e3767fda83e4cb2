/** What users are told in events: only what was really done, once, in a sentence. */
import { conditionType, reasonPrefix } from '@slurm-operator/api';
import type { EventNote, StatusReport } from '../../framework/define-reconciler.ts';
import type { Condition } from '../../framework/status/conditions.ts';
import type { WorkerAction } from './model/actions.ts';
import { isOperators } from './model/node-state.ts';
import type { Observed } from './model/observed.ts';
import { statePrefix } from './plan/mirror-state.ts';
import type { NodeSetOutcome } from './status/report.ts';

/** For what was done in a reconcile, and when lines in slurm.conf begin or cease to wait for jobs. */
export function nodeSetEvents(
  { after: { nodeSet, facts }, plan, notes }: NodeSetOutcome,
  { conditions }: StatusReport,
  options: { readonly nodeEvents: boolean },
): EventNote[] {
  const done = notes.flatMap((note) => (note.type === 'done' ? note.action : []));
  const before = nodeSet.status?.conditions?.find(({ type }) => type === conditionType.configApplied);
  const now = conditions.find(({ type }) => type === conditionType.configApplied);
  return [
    ...eventsFor(done, plan.workers.desired),
    ...holdEvents(before?.reason, now),
    ...drainEvents(done, facts, options),
  ];
}

/** Most pods of which one reconcile tells: conditions and metrics show the others. */
const mostDrains = 50;

/** That a Slurm node is drained, by anybody, and that it no longer is: on its pod, and on the Kubernetes Node of it. */
export function drainEvents(
  done: readonly WorkerAction[],
  { namespace, workers: all, nodes }: Pick<Observed, 'namespace' | 'workers' | 'nodes'>,
  { nodeEvents }: { readonly nodeEvents: boolean },
): EventNote[] {
  const changes = done.flatMap((action) => drainChange(action) ?? []).slice(0, mostDrains);
  if (changes.length === 0) return [];
  const byUid = new Map(all.map((worker) => [worker.uid, worker]));
  return changes.flatMap(({ name, uid, event }) => {
    const worker = byUid.get(uid);
    if (worker === undefined) return [];
    const slurmNode = `Slurm node ${worker.slurmName}`;
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, uid } };
    const onPod = { ...event, note: event.note(slurmNode), regarding: pod };
    const node = worker.nodeName === undefined ? undefined : nodes.get(worker.nodeName);
    if (node === undefined || !nodeEvents) return [onPod];
    const regarding = { apiVersion: 'v1', kind: 'Node', metadata: { name: node.name, uid: node.uid } };
    return [onPod, { ...event, note: event.note(`${slurmNode} (pod ${namespace}/${name})`), regarding }];
  });
}

interface DrainChange {
  readonly name: string;
  readonly uid: string;
  readonly event: Pick<EventNote, 'type' | 'reason'> & { readonly note: (node: string) => string };
}

function drainChange(action: WorkerAction): DrainChange | undefined {
  if (action.kind !== 'mirror-state') return undefined;
  const { name, uid, conditions, over } = action;
  const type = `${statePrefix}Drain`;
  if (over.includes(type)) {
    const note = (node: string) => `${node} is no longer drained.`;
    return { name, uid, event: { type: 'Normal', reason: 'SlurmNodeUndrain', note } };
  }
  const reason = conditions.get(type);
  if (reason === undefined) return undefined;
  const note = (node: string) => `${node} was drained: ${reason || 'no reason given'}`;
  return isOperators(reason)
    ? { name, uid, event: { type: 'Normal', reason: 'SlurmNodeDrain', note } }
    : { name, uid, event: { type: 'Warning', reason: 'SlurmNodeDrainedByOthers', note } };
}

function holdEvents(before: string | undefined, now: Condition | undefined): EventNote[] {
  const [was, is] = [before === 'ConfigHeld', now?.reason === 'ConfigHeld'];
  if (was === is || now === undefined) return [];
  return [
    {
      type: 'Normal',
      reason: is ? 'ConfigHeld' : 'ConfigReleased',
      note: is ? now.message : 'No job needs the old lines of this NodeSet in slurm.conf.',
    },
  ];
}

const goneReasons: Record<Extract<WorkerAction, { kind: 'delete-worker' }>['why'], string> = {
  'scale-in': 'ScalingDown',
  sleep: 'Sleeping',
  'slow-wake': 'WakeSlow',
  'no-machine': 'NoMachines',
  update: 'RollingUpdate',
  hostname: 'HostnameMismatch',
  deletion: 'ScalingDown',
  'wrong-mode': 'ScalingModeChanged',
  duplicate: 'DuplicateWorker',
  failed: 'FailedWorker',
  unregistered: 'SlurmNodeNotRegistered',
};

const becauseWords: Record<Extract<WorkerAction, { kind: 'delete-worker' }>['because'], string> = {
  drained: 'its Slurm node is drained',
  'not-accepted': 'Slurm does not accept its slurmd, which started before its node was powered up',
  'powered-down': 'its Slurm node is powered down and has no jobs',
  'drained-by-other': 'its Slurm node was drained by someone else and has no jobs',
  'unknown-to-slurm': 'Slurm does not know it',
  'never-started': 'it never started',
  'stale-worker': 'it does not run, and another worker uses its name in Slurm',
  'user-asked': 'deletionPolicy is Delete',
  'no-controller': 'its Controller no longer exists',
};

export function eventsFor(done: readonly WorkerAction[], desired: number): EventNote[] {
  const notes: EventNote[] = [];
  const created = done.filter((action) => action.kind === 'create-worker').length;
  if (created > 0)
    notes.push({
      type: 'Normal',
      reason: 'ScalingUp',
      note: `Created ${workers(created)}; ${desired} are desired.`,
    });
  const groups = Map.groupBy(
    done.filter((action) => action.kind === 'delete-worker'),
    (action) => `${goneReasons[action.why]}\u0000${action.because}`,
  );
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const type = first.why === 'unregistered' || first.why === 'failed' ? 'Warning' : 'Normal';
    notes.push({
      type,
      reason: goneReasons[first.why],
      note: `Deleted ${names(group.map((action) => action.name))}: ${becauseWords[first.because]}.`,
    });
  }
  for (const action of done) {
    if (action.kind === 'drain')
      notes.push({
        type: 'Normal',
        reason: 'SlurmNodeDrain',
        note: `Drained Slurm node ${action.slurmName}: ${action.reason}`,
      });
    if (action.kind === 'undrain')
      notes.push({
        type: 'Normal',
        reason: 'SlurmNodeUndrain',
        note: `Undrained Slurm node ${action.slurmName}.`,
      });
    if (action.kind === 'keep-down')
      notes.push({
        type: 'Normal',
        reason: 'SlurmNodeDrain',
        note: `Drained Slurm node ${action.slurmName}, which someone set DOWN (${action.reason}), so that it stays out of service. Resume it with scontrol update nodename=${action.slurmName} state=resume.`,
      });
    if (action.kind === 'set-down')
      notes.push({
        type: 'Warning',
        reason: 'SlurmNodeDown',
        note: `Set Slurm node ${action.slurmName} DOWN: ${action.reason}`,
      });
    if ('slurmNames' in action && action.kind !== 'mark-records' && action.kind !== 'mark-asleep')
      notes.push(powerNote(action));
    const theirs = action.kind === 'mirror-state' ? foreignDrain(action) : undefined;
    if (action.kind === 'mirror-state' && theirs !== undefined)
      notes.push({
        type: 'Warning',
        reason: 'SlurmNodeDrainedByOthers',
        note: `The Slurm node of ${action.name} was drained by someone else (${theirs}). The operator does not change it; see sinfo -R.`,
      });
    if (action.kind === 'delete-record')
      notes.push({
        type: 'Normal',
        reason: 'DefunctSlurmNodePruned',
        note: `Deleted the record of Slurm node ${action.slurmName}.`,
      });
    if (action.kind === 'delete-claim')
      notes.push({
        type: 'Normal',
        reason: 'SuccessfulDelete',
        note: `Deleted claim ${action.name}: its worker was scaled in and whenScaled is Delete.`,
      });
  }
  return notes.slice(0, 50);
}

function powerNote(
  action: Exclude<Extract<WorkerAction, { slurmNames: unknown }>, { kind: 'mark-records' }>,
): EventNote {
  const nodes = names(action.slurmNames);
  const normal = (reason: string, note: string): EventNote => ({ type: 'Normal', reason, note });
  switch (action.kind) {
    case 'create-records':
      return normal('SlurmNodesCreated', `Created sleeping Slurm nodes: ${nodes}.`);
    case 'power-up':
      return normal('WakingUp', `Powered up Slurm nodes for autoscale.min or spare: ${nodes}.`);
    case 'power-down':
      return normal('GoingToSleep', `Powered down idle Slurm nodes: ${nodes}.`);
    case 'mark-asleep':
      return normal('Offered', `Slurm may use sleeping nodes again: ${nodes}.`);
    case 'fail-wake': {
      const jobs = action.jobs.map(({ id }) => id);
      const requeued = jobs.length === 0 ? '' : ` Slurm requeued job ${names(jobs)}.`;
      return {
        type: 'Warning',
        reason: 'NoMachines',
        note: `Gave up the wake-up of ${nodes}: ${action.reason.slice(reasonPrefix.length)}.${requeued}`,
      };
    }
    case 'hold-asleep':
      return normal(
        'NotOffered',
        `Sleeping Slurm nodes are not offered to jobs: ${nodes} (${action.reason.slice(reasonPrefix.length)}).`,
      );
    default:
      return action satisfies never;
  }
}

/** In whose words a node was drained that we did not drain. The condition on the pod changes once, so this is told once. */
function foreignDrain({ conditions }: Extract<WorkerAction, { kind: 'mirror-state' }>): string | undefined {
  const reason = conditions.get(`${statePrefix}Drain`);
  return reason === undefined || isOperators(reason) ? undefined : reason || 'no reason given';
}

function workers(count: number): string {
  return count === 1 ? '1 worker' : `${count} workers`;
}

function names(list: readonly string[]): string {
  return list.length <= 5 ? list.join(', ') : `${list.slice(0, 5).join(', ')} and ${list.length - 5} more`;
}
