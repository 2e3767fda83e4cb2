/** What became of a plan whose actions all succeeded, or all failed. */
import type { Outcome } from '../src/framework/define-reconciler.ts';

export const outcome = <Observed, P>(observed: Observed, plan: P, isDone = true): Outcome<Observed, P> => ({
  observed,
  after: observed,
  plan,
  problems: [],
  succeeded: () => isDone,
  notes: [],
  now: 0,
});
