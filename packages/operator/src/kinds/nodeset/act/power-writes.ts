/** What autoscaling changes in Slurm: records, and the power state of nodes. */
import { compressHostlist, expandHostlist, type NodeUpdate, type SlurmNode } from '@slurm-operator/slurm';
import { maySleep } from '../autoscale/power.ts';
import { isPoweredDown, isPoweringUp } from '../autoscale/slot-states.ts';
import { isForeign } from '../model/node-state.ts';
import type { ActContext, Of } from './act.ts';
import { inParallel } from './in-parallel.ts';
import { isRefusal } from './slurm-writes.ts';

type PowerAction = Of<
  'create-records' | 'mark-records' | 'power-up' | 'power-down' | 'mark-asleep' | 'hold-asleep'
>;

export async function writePower(action: PowerAction, context: ActContext): Promise<void> {
  const { gateway, signal } = context;
  if (gateway === undefined) return;
  const { slurmNames } = action;
  switch (action.kind) {
    case 'create-records':
      await told(slurmNames, context, async () => {
        await gateway.createNodes(
          `NodeName=${compressHostlist(slurmNames)} ${action.shape} State=CLOUD`,
          signal,
        );
        await updateEach(slurmNames, { comment: action.comment }, context);
      });
      return;
    case 'mark-records': {
      const { comment, features } = action;
      const update = {
        ...(comment === undefined ? {} : { comment }),
        ...(features === undefined ? {} : { features, activeFeatures: features }),
      };
      return told(slurmNames, context, () => updateEach(slurmNames, update, context));
    }
    case 'power-up':
      return eachAlone(slurmNames, 'POWER_UP', context);
    case 'mark-asleep':
      return eachAlone(slurmNames, 'RESUME', context);
    case 'power-down':
      return powerDown(slurmNames, context);
    case 'hold-asleep':
      return holdAsleep(action, context);
    default:
      return action satisfies never;
  }
}

/**
 * Laws A2 and A3: Slurm itself keeps work away from a node from the moment that it accepts this, and lets a job that came first run. A
 * drain that a person set since the plan was made would be lost, so the nodes are looked at once more.
 */
async function powerDown(slurmNames: readonly string[], context: ActContext): Promise<void> {
  const view = await context.gateway?.freshView(context.signal);
  if (view === undefined || view.kind === 'unknown' || view.jobsUnknown !== undefined) return;
  const nodes = new Map(view.nodes.map((node) => [node.name, node]));
  const idle = slurmNames.filter((name) => {
    const node = nodes.get(name);
    return node !== undefined && maySleep(stateOf(node, view.deadlines.get(name)));
  });
  await eachAlone(idle, 'POWER_DOWN', context);
}

const stateOf = (node: SlurmNode, deadline: number | string | undefined) => ({
  base: node.state.base,
  flags: node.state.flags,
  reservation: node.reservation || undefined,
  deadline: deadline === undefined ? undefined : Number.POSITIVE_INFINITY,
});

/**
 * Law L11: no container of these ever ran, and their pods are gone. A list that is asked for now must still show that Slurm waits for
 * them: nothing that has registered is set down. The reason on the node comes first, because the jobs are requeued with it. False: Slurm
 * does not say enough now.
 */
export async function failWake(
  { slurmNames, reason, resumeAfterSeconds, jobs }: Of<'fail-wake'>,
  context: ActContext,
): Promise<boolean> {
  const { gateway, signal } = context;
  const view = await gateway?.freshView(signal);
  if (view === undefined || view.kind === 'unknown' || view.jobsUnknown !== undefined) return false;
  const waiting = namesIn(view, slurmNames, ({ state }) => isPoweringUp(state));
  if (waiting.length === 0) return true;
  // One of them may be a job that may not be requeued.
  if (view.someWakingUnread === true) return false;
  // Before Slurm 25.05 a job that may not be requeued ends with its nodes, although it never ran.
  const names = new Set(waiting);
  const protectedJobs = (view.wakingJobs ?? [])
    .filter(({ requeueable, nodes }) => !requeueable && expandHostlist(nodes).some((name) => names.has(name)))
    .map(({ id }) => String(id));
  if (protectedJobs.length > 0) await context.storeRequeueable(protectedJobs, signal);
  try {
    for (const id of protectedJobs) {
      context.requeueable(id, true);
      await gateway?.updateJob(id, { requeue: true }, signal);
    }
    await told(waiting, context, async () => {
      await gateway?.updateNode(waiting, { state: 'DOWN', reason, resumeAfterSeconds }, signal);
      await gateway?.updateNode(waiting, { state: 'POWER_DOWN' }, signal);
    });
  } finally {
    await forbidRequeue(protectedJobs, context);
  }
  for (const { id, adminComment } of jobs) await gateway?.updateJob(id, { adminComment }, signal);
  return true;
}

/** Each on its own: one that cannot be written now must not keep the others from it, and the next plan tries it again. */
export async function forbidRequeue(
  jobs: readonly string[],
  { gateway, parallel, requeueable, signal }: ActContext,
): Promise<void> {
  if (gateway === undefined) return;
  const failures = await inParallel(jobs, parallel, async (id) => {
    await gateway.updateJob(id, { requeue: false }, signal);
    requeueable(id, false);
  });
  if (failures.length > 0) throw failures[0];
}

/** A drain would requeue the job of a node that was allocated since, or replace the drain of a person (law L2). */
async function holdAsleep(
  { slurmNames, reason, resumeAfterSeconds }: Of<'hold-asleep'>,
  context: ActContext,
): Promise<void> {
  const asleep = await stillIn(
    slurmNames,
    context,
    (node) => isPoweredDown(node.state) && !isForeign({ ...node.state, reason: node.reason }),
  );
  if (asleep.length === 0) return;
  const update: NodeUpdate = {
    state: 'DRAIN',
    reason,
    ...(resumeAfterSeconds === undefined ? {} : { resumeAfterSeconds }),
  };
  await told(asleep, context, async () => {
    await context.gateway?.updateNode(asleep, update, context.signal);
  });
}

async function stillIn(
  slurmNames: readonly string[],
  { gateway, signal }: ActContext,
  holds: (node: SlurmNode) => boolean,
): Promise<string[]> {
  const view = await gateway?.freshView(signal);
  return view === undefined || view.kind === 'unknown' ? [] : namesIn(view, slurmNames, holds);
}

function namesIn(
  view: { readonly nodes: readonly SlurmNode[] },
  slurmNames: readonly string[],
  holds: (node: SlurmNode) => boolean,
): string[] {
  const nodes = new Map(view.nodes.map((node) => [node.name, node]));
  return slurmNames.filter((name) => {
    const node = nodes.get(name);
    return node !== undefined && holds(node);
  });
}

/** All in one request. Where Slurm refuses one of them (it changed meanwhile), each on its own, so that the others do not wait. */
async function eachAlone(
  slurmNames: readonly string[],
  state: 'POWER_UP' | 'POWER_DOWN' | 'RESUME',
  context: ActContext,
): Promise<void> {
  if (slurmNames.length === 0) return;
  await told(slurmNames, context, () => updateEach(slurmNames, { state }, context));
}

/**
 * With max_powered_nodes Slurm 24.11 takes every update for a request for power: it refuses a comment for more sleeping nodes than may still be
 * woken.
 */
async function updateEach(
  slurmNames: readonly string[],
  update: NodeUpdate,
  { gateway, signal }: ActContext,
): Promise<void> {
  try {
    await gateway?.updateNode(slurmNames, update, signal);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (slurmNames.length === 1) return; // the next list shows what it is now
    for (const name of slurmNames)
      await gateway?.updateNode(name, update, signal).catch((refused: unknown) => {
        if (!isRefusal(refused)) throw refused;
      });
  }
}

/** A request that failed may have been obeyed. */
async function told(
  slurmNames: readonly string[],
  context: ActContext,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } finally {
    for (const name of slurmNames) context.wrote(name);
  }
}
