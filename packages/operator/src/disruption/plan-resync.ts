/**
 * When a PodDisruptionBudget over workers must be touched. Kubernetes cannot count the workers of a kind that its controller manager
 * does not know yet (for about half a minute after the CRD is installed): it reports SyncFailed, allows no eviction, and does not
 * try again before the budget or a pod changes. Pure.
 */
import type { DeepReadonly, PodDisruptionBudget } from '@slurm-operator/kube';

export const resyncAnnotation = 'slinky.slurm.net/disruption-budget-resync';

/** Milliseconds after the failure until the first touch; doubled with each further one. */
const firstPause = 5_000;
const longestPause = 5 * 60_000;
/** After about 40 minutes the cause is another one than a kind that is new. */
export const mostTouches = 15;

export type Resync =
  | { readonly kind: 'synced' }
  | { readonly kind: 'wait'; readonly forMs: number; readonly message: string }
  | { readonly kind: 'touch'; readonly count: number; readonly value: string; readonly message: string }
  | { readonly kind: 'give-up'; readonly message: string };

export function planResync(
  { metadata, status }: DeepReadonly<Pick<PodDisruptionBudget, 'metadata' | 'status'>>,
  now: number,
): Resync {
  const failed = status?.conditions?.find(
    ({ type, reason }) => type === 'DisruptionAllowed' && reason === 'SyncFailed',
  );
  if (failed === undefined) return { kind: 'synced' };
  const { message } = failed;
  const before = read(metadata.annotations?.[resyncAnnotation], metadata.generation ?? 0);
  const since = before.at ?? (Date.parse(failed.lastTransitionTime) || now);
  if (before.count >= mostTouches) return { kind: 'give-up', message };
  const pause = Math.min(longestPause, firstPause * 2 ** before.count);
  // A time of the future is another clock's: it delays by one pause at most.
  const left = Math.min(pause, since + pause - now);
  if (left > 0) return { kind: 'wait', forMs: left, message };
  const count = before.count + 1;
  const value = `${metadata.generation ?? 0} ${count} ${new Date(now).toISOString()}`;
  return { kind: 'touch', count, value, message };
}

/** What is written there: generation, number of touches, time of the last. Another generation resets it. */
function read(value: string | undefined, generation: number): { count: number; at: number | undefined } {
  const [of, count, at] = (value ?? '').split(' ');
  const touches = Number(count);
  if (Number(of) !== generation || value === undefined || !Number.isInteger(touches) || touches < 0)
    return { count: 0, at: undefined };
  const time = Date.parse(at ?? '');
  return { count: touches, at: Number.isNaN(time) ? undefined : time };
}
