import { app, label, type NodeSet } from '@slurm-operator/api';
import {
  type Client,
  type Condition,
  covers,
  type ReconcileContext,
  setCondition,
} from '@slurm-operator/kube';
import { nodeSets } from '../resources.ts';
import type { StatusDraft } from './status.ts';

/** Writes the status if it says something new. */
export async function writeStatus(
  nodeSet: NodeSet,
  draft: StatusDraft,
  extra: { readonly nodeSetHash: string; readonly ordinalToNode: Record<string, string> | null },
  client: Client,
  context: ReconcileContext,
): Promise<void> {
  const { name, namespace, generation } = nodeSet.metadata;
  const now = context.clock.now();
  let conditions: readonly Condition[] = nodeSet.status?.conditions ?? [];
  for (const condition of draft.conditions)
    conditions = setCondition(conditions, { ...condition, observedGeneration: generation }, now);
  const status = {
    ...draft.counts,
    observedGeneration: generation,
    ...extra,
    selector: `${label.name}=${app.worker},${label.instance}=${name}`,
    conditions,
  };
  if (covers(nodeSet.status, status)) return;
  await client.apply(
    nodeSets,
    { metadata: { name, namespace }, status },
    {
      subresource: 'status',
      signal: context.signal,
    },
  );
}
