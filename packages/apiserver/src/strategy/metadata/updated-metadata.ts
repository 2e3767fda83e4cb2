/** What a client cannot change in metadata by an update, and need not send. */
import type { KubeObject } from '../../api/types.ts';

export function keepSystemMetadata(next: KubeObject, live: KubeObject): void {
  const to = next.metadata;
  const from = live.metadata;
  // A uid that is given must be the right one: validation looks at it.
  if ((to.uid ?? '') === '' && from.uid !== undefined) to.uid = from.uid;
  delete (to as { selfLink?: string }).selfLink;
  for (const key of [
    'resourceVersion',
    'creationTimestamp',
    'generation',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generateName',
  ] as const) {
    if (from[key] === undefined) delete to[key];
    else Object.assign(to, { [key]: from[key] });
  }
}
