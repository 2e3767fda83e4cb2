/** All that changes on a worker's pod, in one request: a write of its status takes labels and annotations along. */
import { annotation, label } from '@slurm-operator/api';
import { pods, timestamp } from '@slurm-operator/kube';
import { cordonCauseAnnotation } from '../annotations.ts';
import type { WorkerAction } from '../model/actions.ts';
import { noDeadline } from '../observe/observe-worker.ts';
import type { ActContext } from './act.ts';

export type PodChange = Extract<WorkerAction, { kind: 'patch-worker' | 'mirror-state' }>;

export function isPodChange(action: WorkerAction): action is PodChange {
  return action.kind === 'patch-worker' || action.kind === 'mirror-state';
}

/** Changes of one pod. The uid makes it a patch of exactly this pod: a later one of the same name is refused (law L4). */
export async function patchPod(changes: readonly PodChange[], context: ActContext): Promise<void> {
  const [first] = changes;
  if (first === undefined) return;
  const conditions = changes.flatMap((change) => statesOf(change, context.now()));
  const body = {
    metadata: { uid: first.uid, ...seenVersion(changes), ...Object.assign({}, ...changes.map(notesOf)) },
    ...(conditions.length === 0 ? {} : { status: { conditions } }),
  };
  const ref = { namespace: context.nodeSet.metadata.namespace, name: first.name };
  await context.client.patch(
    pods,
    ref,
    { type: 'strategic', body },
    { signal: context.signal, ...(conditions.length === 0 ? {} : { subresource: 'status' }) },
  );
}

function seenVersion(changes: readonly PodChange[]): { resourceVersion?: string } {
  const [resourceVersion] = changes.flatMap((change) =>
    change.kind === 'patch-worker' ? (change.resourceVersion ?? []) : [],
  );
  return resourceVersion === undefined ? {} : { resourceVersion };
}

function notesOf(change: PodChange): { labels?: object; annotations?: object } {
  if (change.kind !== 'patch-worker') return {};
  const { cordon, deadline, topology, protect } = change;
  const cordonNotes = cordon && {
    [annotation.podCordon]: cordon.cordoned ? 'true' : null,
    [cordonCauseAnnotation]: cordon.cause ?? null,
  };
  return {
    labels: protect === undefined ? {} : { [label.podProtect]: protect ? 'true' : null },
    annotations: {
      ...cordonNotes,
      ...(deadline === undefined ? {} : { [annotation.podDeadline]: deadlineText(deadline) }),
      ...(topology === undefined ? {} : { [annotation.topology]: topology ?? '' }),
    },
  };
}

/** Conditions merge by their type: one entry each, whatever was there, and those of others stay. */
function statesOf(change: PodChange, now: number): object[] {
  if (change.kind !== 'mirror-state') return [];
  const lastTransitionTime = timestamp(now);
  const set = [...change.conditions].map(([type, message]) => ({
    type,
    status: 'True',
    message,
    lastTransitionTime,
  }));
  return [...set, ...change.over.map((type) => ({ $patch: 'delete', type }))];
}

function deadlineText(deadline: number | null): string | null {
  if (deadline === null) return null;
  return Number.isFinite(deadline) ? timestamp(deadline) : noDeadline;
}
