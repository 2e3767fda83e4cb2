/** What autoscaling changes in Slurm: records, and the power state of nodes. */
import { compressHostlist, type SlurmNode } from '@slurm-operator/slurm';
import { maySleep } from '../autoscale/power.ts';
import type { ActContext, Of } from './act.ts';
import { isRefusal } from './slurm-writes.ts';

type PowerAction = Of<'create-records' | 'mark-records' | 'power-up' | 'power-down' | 'mark-asleep'>;

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
        await gateway.updateNode(slurmNames, { comment: action.comment }, signal);
      });
      return;
    case 'mark-records':
      return told(slurmNames, context, () =>
        gateway.updateNode(slurmNames, { comment: action.comment }, signal),
      );
    case 'power-up':
      return eachAlone(slurmNames, 'POWER_UP', context);
    case 'mark-asleep':
      return eachAlone(slurmNames, 'RESUME', context);
    case 'power-down':
      return powerDown(slurmNames, context);
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

/** All in one request. Where Slurm refuses one of them (it changed meanwhile), each on its own, so that the others do not wait. */
async function eachAlone(
  slurmNames: readonly string[],
  state: 'POWER_UP' | 'POWER_DOWN' | 'RESUME',
  context: ActContext,
): Promise<void> {
  const { gateway, signal } = context;
  if (gateway === undefined || slurmNames.length === 0) return;
  await told(slurmNames, context, async () => {
    try {
      await gateway.updateNode(slurmNames, { state }, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (slurmNames.length === 1) return; // the next list shows what it is now
      for (const name of slurmNames)
        await gateway.updateNode(name, { state }, signal).catch((refused: unknown) => {
          if (!isRefusal(refused)) throw refused;
        });
    }
  });
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
