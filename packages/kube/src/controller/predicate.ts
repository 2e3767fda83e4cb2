/** Predicates filter which changes trigger a reconcile. A predicate is a pure function of one change. */
import type { Change } from '../cache/replica.ts';
import type { KubeObject } from '../objects/object.ts';

export type Predicate<T extends KubeObject = KubeObject> = (change: Change<T>) => boolean;

/** The spec changed, or the object was created or deleted. Filters out status updates, such as the controller's own. */
export const generationChanged: Predicate = (change) =>
  change.type !== 'updated' ||
  change.object.metadata.generation !== change.previous.metadata.generation ||
  change.object.metadata.uid !== change.previous.metadata.uid ||
  change.object.metadata.deletionTimestamp !== change.previous.metadata.deletionTimestamp;

export function allOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((holds) => holds(change));
}
