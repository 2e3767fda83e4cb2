/**
 * Carries a plan out: cordons and drains at once, then deletes (each checked again against a list fetched for the purpose), then
 * creations in a slow start, then what only informs (conditions, topology, comments), because it is less urgent than a worker. One
 * failing action hurts only itself; all failures are thrown together at the end.
 */
import { finalizer, type NodeSet, nodeSetFinalizers } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  addFinalizer,
  type Client,
  ConflictError,
  InvalidError,
  type Live,
  NotFoundError,
  persistentVolumeClaims,
  pods,
  removeFinalizer,
} from '@slurm-operator/kube';
import { nodeSets } from '../../../cache/resources.ts';
import type { SlurmGateway } from '../../../slurm-connection/slurm-gateway.ts';
import { claimScaledInAnnotation } from '../annotations.ts';
import type { WorkerAction } from '../model/actions.ts';
import { confirmedBatches } from './confirmed-batches.ts';
import { inParallel, slowStart } from './in-parallel.ts';
import { isPodChange, type PodChange, patchPod } from './patch-pod.ts';
import { failWake, forbidRequeue, writePower } from './power-writes.ts';
import { deleteRecord, keepDown, noteFacts, setDown, updateNode } from './slurm-writes.ts';

export interface ActContext {
  readonly client: Client;
  readonly gateway: SlurmGateway | undefined;
  readonly nodeSet: NodeSet;
  /** Makes the claims and the pod of a slot. */
  readonly createWorker: (creation: Of<'create-worker'>, signal: AbortSignal) => Promise<void>;
  /** Told when a Slurm node was changed by us, or may have been, or may still be for so many milliseconds. */
  readonly wrote: (slurmName: string, stillForMs?: number) => void;
  /** Told when Slurm understood an update of a worker's node and said no. Nothing else waits for that one. */
  readonly refused: (update: Of<'update-node'>, words: string) => void;
  /** Stores that these jobs, which may not be requeued, can be from now on: an operator that starts after this one ends it. */
  readonly storeRequeueable: (jobs: readonly string[], signal: AbortSignal) => Promise<void>;
  /** Told before a job that may not be requeued can be, and when it cannot any more. */
  readonly requeueable: (job: string, requeueable: boolean) => void;
  readonly done: (action: WorkerAction) => void;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** How many requests may be under way at once. */
  readonly parallel: number;
  /** More workers are to be made right after these: what is only told waits for them too, unless making these fails. */
  readonly moreToCreate?: boolean;
}

export type Of<K extends WorkerAction['kind']> = Extract<WorkerAction, { kind: K }> & { readonly kind: K };

const order: readonly (readonly (WorkerAction['kind'] | 'guard-worker')[])[] = [
  ['add-finalizer'],
  ['adopt-worker', 'release-worker', 'mark-claim', 'own-claim', 'guard-worker', 'forbid-requeue'],
  [
    'drain',
    'undrain',
    'set-down',
    'keep-down',
    'power-down',
    'fail-wake',
    'hold-asleep',
    'mark-asleep',
    'power-up',
  ],
  ['delete-worker'],
  ['create-worker'],
  ['patch-worker', 'mirror-state', 'update-node', 'mark-records', 'create-records'],
  ['delete-claim', 'delete-record'],
  ['remove-finalizer'],
];

export async function act(actions: readonly WorkerAction[], context: ActContext): Promise<void> {
  const failures: unknown[] = [];
  const undone = new Set<WorkerAction>(actions);
  const tracked: ActContext = {
    ...context,
    done: (action) => {
      undone.delete(action);
      context.done(action);
    },
  };
  const failed = (kind: WorkerAction['kind']) => [...undone].some((action) => action.kind === kind);
  const waves = inWaves(actions);
  let creationFailed = false;
  for (const kinds of order) {
    const wave = kinds.flatMap((kind) => waves.get(kind) ?? []);
    if (wave.length === 0) continue;
    if (kinds[0] === 'patch-worker' && context.moreToCreate && !creationFailed) continue;
    // With its marks missing a worker must not go; everything else goes on whatever failed before.
    if (kinds[0] === 'delete-worker' && failed('mark-claim')) continue;
    const run = kinds[0] === 'create-worker' ? slowStart : inParallel;
    const batches =
      kinds[0] === 'delete-worker' ? confirmedBatches(wave as Of<'delete-worker'>[], context) : [wave];
    for await (const batch of batches) {
      const refused = await run(together(batch), context.parallel, (request) => perform(request, tracked));
      failures.push(...refused);
      if (kinds[0] === 'create-worker') creationFailed = refused.length > 0;
    }
    // Without its finalizer a NodeSet must not get workers.
    if (failed('add-finalizer')) break;
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1)
    throw new AggregateError(
      failures,
      `${failures.length} of ${actions.length} actions failed; first error: ${String(failures[0])}`,
    );
}

/** A cordon or a protection is not only told: evictions and deletes are decided by it. What else is to say of that pod goes along. */
function inWaves(
  actions: readonly WorkerAction[],
): ReadonlyMap<WorkerAction['kind'] | 'guard-worker', readonly WorkerAction[]> {
  const guarded = new Set(
    actions.flatMap((action) =>
      action.kind === 'patch-worker' && (action.cordon ?? action.protect) !== undefined ? action.uid : [],
    ),
  );
  return Map.groupBy(actions, (action) =>
    isPodChange(action) && guarded.has(action.uid) ? 'guard-worker' : action.kind,
  );
}

/** What changes on one pod goes in one request; every other action is one of its own. */
function together(actions: readonly WorkerAction[]): WorkerAction[][] {
  return [...Map.groupBy(actions, (action) => (isPodChange(action) ? action.uid : action)).values()];
}

async function perform(actions: readonly WorkerAction[], context: ActContext): Promise<void> {
  const [action] = actions;
  if (action === undefined) return;
  if (isPodChange(action)) {
    if (!(await metAsPlanned(patchPod(actions.filter(isPodChange), context)))) return;
  } else if (action.kind === 'delete-worker') {
    if (!(await deleteWorker(action, context))) return;
  } else if (action.kind === 'update-node') {
    if (!(await noteFacts(action, context))) return;
  } else if (action.kind === 'set-down') {
    if (!(await setDown(action, context))) return;
  } else if (action.kind === 'keep-down') {
    if (!(await keepDown(action, context))) return;
  } else if (action.kind === 'fail-wake') {
    if (!(await failWake(action, context))) return;
  } else await performKind(action, context);
  for (const each of actions) context.done(each);
}

function performKind(
  action: Exclude<
    WorkerAction,
    PodChange | Of<'update-node' | 'delete-worker' | 'set-down' | 'keep-down' | 'fail-wake'>
  >,
  context: ActContext,
): Promise<void> {
  switch (action.kind) {
    case 'add-finalizer':
    case 'remove-finalizer':
      return setFinalizer(action.kind === 'add-finalizer', context);
    case 'create-worker':
      return context.createWorker(action, context.signal);
    case 'adopt-worker':
    case 'release-worker':
      return setController(action, context);
    case 'drain':
      return updateNode(action.slurmName, { state: 'DRAIN', reason: action.reason }, context);
    case 'undrain':
      return updateNode(action.slurmName, { state: 'UNDRAIN' }, context);
    case 'forbid-requeue':
      return forbidRequeue(action.jobs, context);
    case 'delete-record':
      return deleteRecord(action.slurmName, context);
    case 'create-records':
    case 'mark-records':
    case 'power-up':
    case 'power-down':
    case 'mark-asleep':
    case 'hold-asleep':
      return writePower(action, context);
    case 'mark-claim':
      return patchClaim(
        action,
        { metadata: { annotations: { [claimScaledInAnnotation]: action.scaledIn ? 'true' : null } } },
        context,
      );
    case 'own-claim':
      return patchClaim(
        action,
        { metadata: { ownerReferences: [ownerPatch(action.owned, context.nodeSet)] } },
        context,
      );
    case 'delete-claim':
      return gone(
        context.client.delete(persistentVolumeClaims, at(context, action.name), {
          uid: action.uid,
          signal: context.signal,
        }),
      );
    default:
      return action satisfies never;
  }
}

async function setFinalizer(wanted: boolean, { client, nodeSet, signal }: ActContext): Promise<void> {
  if (wanted) {
    await addFinalizer(client, nodeSets, nodeSet, finalizer.drain, { signal });
    return;
  }
  await removeFinalizers(client, nodeSet, signal);
}

/** Those of upstream too. */
export async function removeFinalizers(
  client: Client,
  nodeSet: Live<NodeSet>,
  signal: AbortSignal,
): Promise<void> {
  let left: Live<NodeSet> | undefined = nodeSet;
  for (const name of nodeSetFinalizers)
    left = left && (await removeFinalizer(client, nodeSets, left, name, { signal }));
}

/** Owners merge by uid, so those of others stay; a pod that got another controller meanwhile refuses a second one. */
async function setController(
  action: Of<'adopt-worker' | 'release-worker'>,
  context: ActContext,
): Promise<void> {
  const owner =
    action.kind === 'adopt-worker'
      ? { ...ownerPatch(true, context.nodeSet), controller: true, blockOwnerDeletion: true }
      : ownerPatch(false, context.nodeSet);
  const body = { metadata: { uid: action.uid, ownerReferences: [owner] } };
  const { client, signal } = context;
  await gone(client.patch(pods, at(context, action.name), { type: 'strategic', body }, { signal }));
}

function deleteWorker(action: Of<'delete-worker'>, context: ActContext): Promise<boolean> {
  const { name, uid, resourceVersion } = action;
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  return metAsPlanned(
    context.client.delete(pods, at(context, name), { uid, ...version, signal: context.signal }),
  );
}

/** False: it is not the pod any more that the plan has seen. The change that made it so brings the next plan. */
async function metAsPlanned(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    if (isOver(error)) return true;
    throw error;
  }
}

async function patchClaim(
  action: { name: string; uid: string },
  body: { metadata: object },
  context: ActContext,
): Promise<void> {
  const guarded = { metadata: { uid: action.uid, ...body.metadata } };
  await gone(
    // Strategic: owners merge by uid, so those of others stay.
    context.client.patch(
      persistentVolumeClaims,
      at(context, action.name),
      { type: 'strategic', body: guarded },
      {
        signal: context.signal,
      },
    ),
  );
}

/** Gone, or replaced by an object of the same name, means done: the next plan observes it. */
async function gone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isOver(error) && !(error instanceof ConflictError)) throw error;
  }
}

function isOver(error: unknown): boolean {
  return error instanceof NotFoundError || isReplaced(error) || error instanceof AlreadyExistsError;
}

/** A patch that names the uid of a pod that is gone, met by its successor of the same name. */
function isReplaced(error: unknown): boolean {
  return error instanceof InvalidError && error.causes.some((cause) => cause.field === 'metadata.uid');
}

function ownerPatch(owned: boolean, nodeSet: NodeSet) {
  const { name, uid } = nodeSet.metadata;
  return owned
    ? { apiVersion: nodeSet.apiVersion, kind: nodeSet.kind, name, uid }
    : { $patch: 'delete', uid };
}

function at(context: ActContext, name: string) {
  return { namespace: context.nodeSet.metadata.namespace, name };
}
