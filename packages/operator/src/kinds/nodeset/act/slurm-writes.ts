/** What is changed in Slurm itself. Every change is told with `wrote`, also one that failed: it may have been obeyed. */
import { SlurmError } from '@slurm-operator/slurm';
import type { SlurmGateway } from '../../../slurm-connection/slurm-gateway.ts';
import { isDownByPerson, isOfDead } from '../model/node-state.ts';
import type { ActContext, Of } from './act.ts';

/** What is set down is dead at once, so it must still be the dead one: false where a list asked for now does not say so (law L11). */
export async function setDown(
  { slurmName, reason, endedAt }: Of<'set-down'>,
  context: ActContext,
): Promise<boolean> {
  const view = await context.gateway?.freshView(context.signal);
  const node = view?.kind === 'known' ? view.nodes.find(({ name }) => name === slurmName) : undefined;
  if (node === undefined || !isOfDead(node, endedAt)) return false;
  await updateNode(slurmName, { state: 'DOWN', reason }, context);
  return true;
}

/** False where a list asked for now no longer says so: a person may have resumed the node since. */
export async function keepDown(
  { slurmName, reason }: Of<'keep-down'>,
  context: ActContext,
): Promise<boolean> {
  const view = await context.gateway?.freshView(context.signal);
  const node = view?.kind === 'known' ? view.nodes.find(({ name }) => name === slurmName) : undefined;
  if (node === undefined || node.reason !== reason || !isDownByPerson({ ...node.state, reason }))
    return false;
  await updateNode(slurmName, { state: 'DRAIN', reason }, context);
  return true;
}

/** False: Slurm said no, and would say so again. */
export async function noteFacts(action: Of<'update-node'>, context: ActContext): Promise<boolean> {
  const { kind: _kind, slurmName, features, ...update } = action;
  const active = features === undefined ? {} : { features, activeFeatures: features };
  try {
    await updateNode(slurmName, { ...update, ...active }, context);
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    context.refused(action, error.text ?? error.message);
    return false;
  }
}

/** Slurm understood, and said no. */
export function isRefusal(error: unknown): error is SlurmError {
  return error instanceof SlurmError && (error.code === 'Refused' || error.code === 'NotSupported');
}

export async function updateNode(
  name: string,
  update: Parameters<SlurmGateway['updateNode']>[1],
  context: ActContext,
): Promise<void> {
  try {
    await context.gateway?.updateNode(name, update, context.signal);
    context.wrote(name);
  } catch (error) {
    // A request that timed out may have been obeyed, or may yet be.
    context.wrote(name, update.state === 'UNDRAIN' && !isRefusal(error) ? obeyedWithin : 0);
    throw error;
  }
}

/**
 * A slurmctld under load carries out requests that have timed out here. An undrain that late would make a node eligible for jobs that a
 * list, and the operator, take for drained: for this long no list is trusted.
 */
const obeyedWithin = 30_000;

export async function deleteRecord(name: string, context: ActContext): Promise<void> {
  try {
    await context.gateway?.deleteNode(name, context.signal);
  } finally {
    context.wrote(name);
  }
}
