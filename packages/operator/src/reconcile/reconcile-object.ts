/** The frame of a plain reconciler: find the object, make things so step by step, say in its status how it went. */
import type { KubeObject, Live, Manager, ReconcileContext, Request, Resource } from '@slurm-operator/kube';
import type { Trouble, Verdict } from '../status/judge.ts';
import { writeStatus } from '../status/write-status.ts';
import { Steps } from './steps.ts';

/** What of the manager a reconciler needs. */
export type ReconcilerNeeds = Pick<Manager, 'cache' | 'client' | 'owned' | 'recorder'>;

export interface ReconcileStory<T extends KubeObject, Done> {
  readonly act: (object: Live<T>, steps: Steps) => Promise<Done>;
  /** `failures`: what its steps could not do. */
  readonly report: (
    object: Live<T>,
    done: Done,
    failures: readonly Trouble[],
  ) => { readonly fields?: Readonly<Record<string, unknown>>; readonly verdicts: readonly Verdict[] };
}

/**
 * What `act` brought; undefined where there is nothing to do, for the object is gone or going. Steps that failed are thrown once
 * the status tells of them, so that the queue tries again.
 */
export async function reconcileObject<T extends KubeObject, Done>(
  { cache, client, recorder }: ReconcilerNeeds,
  kind: Resource<T>,
  request: Request,
  context: ReconcileContext,
  { act, report }: ReconcileStory<T, Done>,
): Promise<Done | undefined> {
  const object = cache.get(kind, request);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const steps = new Steps(object, recorder, context.signal);
  const done = await act(object, steps);

  const after = cache.get(kind, request);
  if (after === undefined) return undefined;
  const { fields = {}, verdicts } = report(object, done, steps.failures);
  await writeStatus(kind, after, fields, verdicts, client, context);
  steps.throwFailures();
  return done;
}
