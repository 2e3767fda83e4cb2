/** What changed between two lists of job states. Pure. */
import { hasEnded, type SlurmJobState } from '../model/job.ts';

export type JobChange =
  | { readonly type: 'added'; readonly id: string; readonly state: readonly string[] }
  | {
      readonly type: 'changed';
      readonly id: string;
      readonly state: readonly string[];
      readonly before: readonly string[];
      /** The job ended with this change. */
      readonly ended: boolean;
    }
  | { readonly type: 'removed'; readonly id: string; readonly before: readonly string[] };

export type JobStates = ReadonlyMap<string, readonly string[]>;

export function jobChanges(
  before: JobStates,
  list: readonly SlurmJobState[],
): { readonly states: JobStates; readonly changes: readonly JobChange[] } {
  const states = new Map<string, readonly string[]>();
  const changes: JobChange[] = [];
  for (const { id, state } of list) {
    const known = before.get(id);
    const same =
      known !== undefined && known.length === state.length && known.every((name) => state.includes(name));
    states.set(id, same ? known : state);
    if (known === undefined) changes.push({ type: 'added', id, state });
    else if (!same)
      changes.push({ type: 'changed', id, state, before: known, ended: hasEnded(state) && !hasEnded(known) });
  }
  for (const [id, state] of before) if (!states.has(id)) changes.push({ type: 'removed', id, before: state });
  return { states, changes };
}
