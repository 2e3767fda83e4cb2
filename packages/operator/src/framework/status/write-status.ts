/** Writes a status if it says something new. */
import {
  type Client,
  type Condition,
  covers,
  type KubeObject,
  type Live,
  type ReconcileContext,
  type Resource,
  setCondition,
} from '@slurm-operator/kube';
import type { Verdict } from './judge.ts';

interface WithStatus extends KubeObject {
  status?: { conditions?: Condition[] };
}

/** `withdrawn`: types of conditions that no longer apply; they leave the status. */
export async function writeStatus<T extends KubeObject>(
  resource: Resource<T>,
  object: Live<T>,
  fields: Readonly<Record<string, unknown>>,
  verdicts: readonly Verdict[],
  client: Client,
  context: ReconcileContext,
  withdrawn: readonly string[] = [],
): Promise<void> {
  const { name, namespace, generation } = object.metadata;
  const before = (object as unknown as Live<WithStatus>).status;
  const now = context.clock.now();
  let conditions: readonly Condition[] = (before?.conditions ?? []).filter(
    ({ type }) => !withdrawn.includes(type),
  );
  const drops = conditions.length < (before?.conditions ?? []).length;
  for (const verdict of verdicts)
    conditions = setCondition(
      conditions,
      { ...verdict, ...(generation === undefined ? {} : { observedGeneration: generation }) },
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
