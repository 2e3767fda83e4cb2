/**
 * Carries a plan out: drains and patches at once, then deletes (each checked again against a list fetched for the purpose), then
 * creations in a slow start. One failing action hurts only itself; all failures are thrown together at the end.
 */
import { annotation, finalizer, label, type NodeSet } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  addFinalizer,
  type Client,
  ConflictError,
  InvalidError,
  NotFoundError,
  persistentVolumeClaims,
  pods,
  removeFinalizer,
  timestamp,
} from '@slurm-operator/kube';
import { nodeSets } from '../../resources.ts';
import { claimScaledInAnnotation, cordonCauseAnnotation } from '../annotations.ts';
import { noDeadline } from '../observe/observe-worker.ts';
import type { Action } from '../plan/actions.ts';
import type { Slot } from '../plan/observed.ts';
import type { NodesView, SlurmGateway } from '../slurm-gateway.ts';
import { inParallel, slowStart } from './in-parallel.ts';
import { stillSafe } from './still-safe.ts';

export interface ActContext {
  readonly client: Client;
  readonly gateway: SlurmGateway | undefined;
  readonly nodeSet: NodeSet;
  /** Makes the claims and the pod of a slot. */
  readonly createWorker: (slot: Slot, signal: AbortSignal) => Promise<void>;
  /** Told when a Slurm node was (or may have been) changed by us. */
  readonly wrote: (slurmName: string) => void;
  readonly done: (action: Action) => void;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** How many requests may be under way at once. */
  readonly parallel: number;
}

type Of<K extends Action['kind']> = Extract<Action, { kind: K }>;

const order: readonly (readonly Action['kind'][])[] = [
  ['add-finalizer'],
  ['mark-claim', 'own-claim', 'patch-worker', 'mirror-state'],
  ['drain', 'undrain', 'set-down', 'update-node'],
  ['delete-worker'],
  ['create-worker'],
  ['delete-claim', 'delete-record'],
  ['remove-finalizer'],
];

export async function act(actions: readonly Action[], context: ActContext): Promise<void> {
  const failures: unknown[] = [];
  const undone = new Set<Action>(actions);
  const tracked: ActContext = {
    ...context,
    done: (action) => {
      undone.delete(action);
      context.done(action);
    },
  };
  const failed = (kind: Action['kind']) => [...undone].some((action) => action.kind === kind);
  for (const kinds of order) {
    const wave = actions.filter((action) => kinds.includes(action.kind));
    if (wave.length === 0) continue;
    // With its marks missing a worker must not go; everything else goes on whatever failed before.
    if (kinds[0] === 'delete-worker' && failed('mark-claim')) continue;
    const run = kinds[0] === 'create-worker' ? slowStart : inParallel;
    const checked =
      kinds[0] === 'delete-worker' ? await confirmed(wave as Of<'delete-worker'>[], context) : wave;
    failures.push(...(await run<Action>(checked, context.parallel, (action) => perform(action, tracked))));
    // Without its finalizer a NodeSet must not get workers.
    if (failed('add-finalizer')) break;
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1)
    throw new AggregateError(
      failures,
      `${failures.length} of ${actions.length} actions failed; the first: ${String(failures[0])}`,
    );
}

/** One list for all deletes of a plan: what is not safe by it stays for the next plan. */
async function confirmed(deletes: readonly Of<'delete-worker'>[], context: ActContext): Promise<Action[]> {
  const needsList = deletes.some(
    (action) => action.because === 'drained' || action.because === 'unknown-to-slurm',
  );
  const view: NodesView = !needsList
    ? { kind: 'unknown', since: 0, why: 'not needed' }
    : ((await context.gateway?.freshView(context.signal)) ?? {
        kind: 'unknown',
        since: 0,
        why: 'no connection',
      });
  return deletes.filter((action) => stillSafe(action, view));
}

async function perform(action: Action, context: ActContext): Promise<void> {
  await performKind(action, context);
  context.done(action);
}

function performKind(action: Action, context: ActContext): Promise<void> {
  switch (action.kind) {
    case 'add-finalizer':
    case 'remove-finalizer':
      return setFinalizer(action.kind === 'add-finalizer', context);
    case 'create-worker':
      return context.createWorker(action.slot, context.signal);
    case 'patch-worker':
      return patchWorker(action, context);
    case 'mirror-state':
      return mirrorState(action, context);
    case 'delete-worker':
      return deleteWorker(action, context);
    case 'drain':
      return updateNode(action.slurmName, { state: 'DRAIN', reason: action.reason }, context);
    case 'undrain':
      return updateNode(action.slurmName, { state: 'UNDRAIN' }, context);
    case 'set-down':
      return updateNode(action.slurmName, { state: 'DOWN', reason: action.reason }, context);
    case 'update-node': {
      const { kind: _kind, slurmName, features, ...update } = action;
      return updateNode(
        slurmName,
        { ...update, ...(features === undefined ? {} : { features, activeFeatures: features }) },
        context,
      );
    }
    case 'delete-record':
      return deleteRecord(action.slurmName, context);
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
  const change = wanted ? addFinalizer : removeFinalizer;
  await change(client, nodeSets, nodeSet, finalizer.drain, { signal });
}

async function patchWorker(action: Of<'patch-worker'>, context: ActContext): Promise<void> {
  const annotations: Record<string, string | null> = {};
  const labels: Record<string, string | null> = {};
  if (action.cordon !== undefined) {
    annotations[annotation.podCordon] = action.cordon.cordoned ? 'true' : null;
    annotations[cordonCauseAnnotation] = action.cordon.cause ?? null;
  }
  if (action.deadline !== undefined) annotations[annotation.podDeadline] = deadlineText(action.deadline);
  if (action.topology !== undefined) annotations[annotation.topology] = action.topology ?? '';
  if (action.protect !== undefined) labels[label.podProtect] = action.protect ? 'true' : null;
  // The uid makes it a patch of this very pod: a namesake that came since is refused (law L4).
  const body = { metadata: { uid: action.uid, annotations, labels } };
  await gone(context.client.mergePatch(pods, at(context, action.name), body, { signal: context.signal }));
}

/**
 * By server-side apply under a manager of its own: what is left out is removed, and there is one entry per type whatever was there.
 */
async function mirrorState(action: Of<'mirror-state'>, context: ActContext): Promise<void> {
  const lastTransitionTime = timestamp(context.now());
  const conditions = [...action.conditions].map(([type, message]) => ({
    type,
    status: 'True',
    message,
    lastTransitionTime,
  }));
  const body = { metadata: { ...at(context, action.name), uid: action.uid }, status: { conditions } };
  const options = {
    subresource: 'status',
    fieldManager: 'slurm-operator-node-state',
    signal: context.signal,
  };
  await gone(context.client.apply(pods, body, options));
}

function deadlineText(deadline: number | null): string | null {
  if (deadline === null) return null;
  return Number.isFinite(deadline) ? timestamp(deadline) : noDeadline;
}

async function deleteWorker(action: Of<'delete-worker'>, context: ActContext): Promise<void> {
  await gone(
    context.client.delete(pods, at(context, action.name), { uid: action.uid, signal: context.signal }),
  );
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

async function updateNode(
  name: string,
  update: Parameters<SlurmGateway['updateNode']>[1],
  context: ActContext,
): Promise<void> {
  try {
    await context.gateway?.updateNode(name, update, context.signal);
  } finally {
    // Also after a failure: a request that timed out may have been obeyed.
    context.wrote(name);
  }
}

async function deleteRecord(name: string, context: ActContext): Promise<void> {
  try {
    await context.gateway?.deleteNode(name, context.signal);
  } finally {
    context.wrote(name);
  }
}

/** Gone, or replaced by a namesake, means done: the next plan sees what is there. */
async function gone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (
      error instanceof NotFoundError ||
      isNamesake(error) ||
      error instanceof ConflictError ||
      error instanceof AlreadyExistsError
    )
      return;
    throw error;
  }
}

/** A patch that names the uid of a pod that is gone, met by its successor of the same name. */
function isNamesake(error: unknown): boolean {
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
