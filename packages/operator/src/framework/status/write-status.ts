/** Writes a status if it says something new. */
import {
  type Client,
  covers,
  type KubeObject,
  type Live,
  type ReconcileContext,
  type Resource,
  type Condition as StoredCondition,
  setCondition,
} from '@slurm-operator/kube';
import type { Condition } from './conditions.ts';

export interface StatusReport {
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Condition[];
  /** Types of conditions that no longer apply: they leave the status. */
  readonly withdrawn?: readonly string[];
}

interface WithStatus extends KubeObject {
  status?: { conditions?: StoredCondition[] };
}

export async function writeStatus<T extends KubeObject>(
  resource: Resource<T>,
  object: Live<T>,
  { fields = {}, conditions: desired, withdrawn = [] }: StatusReport,
  client: Client,
  context: Pick<ReconcileContext, 'clock' | 'signal'>,
): Promise<void> {
  const { name, namespace, generation } = object.metadata;
  // Every kind of ours has these fields in its status; `T` does not say so.
  const before = (object as unknown as Live<WithStatus>).status;
  const now = context.clock.now();
  let conditions: readonly StoredCondition[] = (before?.conditions ?? []).filter(
    ({ type }) => !withdrawn.includes(type),
  );
  const drops = conditions.length < (before?.conditions ?? []).length;
  for (const condition of desired)
    conditions = setCondition(
      conditions,
      { ...condition, ...(generation === undefined ? {} : { observedGeneration: generation }) },
      now,
    );
  const status = {
    ...fields,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    conditions,
  };
  // What is not applied any more is removed by the server; `covers` cannot see that, so it is looked for here.
  const stale = Object.keys(before ?? {}).some(
    (field) => !(field in status) || (status as Record<string, unknown>)[field] === undefined,
  );
  if (!stale && !drops && covers(before, status)) return;
  await client.apply(resource, { metadata: { name, namespace }, status } as never, {
    subresource: 'status',
    signal: context.signal,
  });
}
