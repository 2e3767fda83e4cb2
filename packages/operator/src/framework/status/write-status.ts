/** Writes a status if it says something new. */
import {
  type ApplyIntent,
  applyDeclared,
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

/**
 * A CRD that is older than the operator lacks fields of the status. They are left out and logged: one of them would otherwise have the
 * API server refuse the whole status, with the conditions.
 */
export async function writeStatus<T extends KubeObject>(
  resource: Resource<T>,
  object: Live<T>,
  report: StatusReport,
  client: Client,
  { clock, signal, log }: Pick<ReconcileContext, 'clock' | 'signal' | 'log'>,
): Promise<void> {
  const intent = statusIntent<T>(object, report, clock.now());
  if (intent === undefined) return;
  const { object: applied, ignored } = await applyDeclared(client, resource, intent, {
    subresource: 'status',
    signal,
  });
  await removeForeignFields(resource, applied, intent, client, signal);
  if (ignored.length > 0)
    log.warn(
      { fields: ignored, kind: resource.kind },
      'the CRD is older than the operator and has no such fields: upgrade the chart slurm-operator-crds',
    );
}

/** The same for what must be stored before the next step: nothing is left out. */
export async function recordStatus<T extends KubeObject>(
  resource: Resource<T>,
  object: Live<T>,
  report: StatusReport,
  client: Client,
  { clock, signal }: Pick<ReconcileContext, 'clock' | 'signal'>,
): Promise<void> {
  const intent = statusIntent<T>(object, report, clock.now());
  if (intent !== undefined) await client.apply(resource, intent, { subresource: 'status', signal });
}

/**
 * Fields that a previous operator wrote stay in the status after an apply, because it still owns them. Each reconcile would find them
 * there and apply again, without an effect.
 */
async function removeForeignFields<T extends KubeObject>(
  resource: Resource<T>,
  applied: Live<T>,
  intent: ApplyIntent<T>,
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  const statusOf = (object: object) => (object as { readonly status?: object }).status ?? {};
  const foreign = staleFields(statusOf(applied), statusOf(intent));
  if (foreign.length === 0) return;
  const { name, namespace, uid } = applied.metadata;
  const status = Object.fromEntries(foreign.map((field) => [field, null]));
  const body = { metadata: { uid }, status };
  await client.mergePatch(resource, { namespace, name }, body, { subresource: 'status', signal });
}

function staleFields(before: object, status: object): string[] {
  return Object.keys(before).filter((field) => (status as Record<string, unknown>)[field] === undefined);
}

function statusIntent<T extends KubeObject>(
  object: Live<T>,
  report: StatusReport,
  now: number,
): ApplyIntent<T> | undefined {
  const status = statusToWrite(object, report, now);
  const { name, namespace } = object.metadata;
  // Every kind of ours has such a status; `T` does not say so.
  return status && ({ metadata: { name, namespace }, status } as unknown as ApplyIntent<T>);
}

/** The new status; undefined if it says what the object says already. */
function statusToWrite(
  object: Live,
  { fields = {}, conditions: desired, withdrawn = [] }: StatusReport,
  now: number,
): object | undefined {
  const { generation } = object.metadata;
  // Every kind of ours has these fields in its status; `Live` does not say so.
  const before = (object as unknown as Live<WithStatus>).status;
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
  const stale = staleFields(before ?? {}, status).length > 0;
  return stale || drops || !covers(before, status) ? status : undefined;
}
