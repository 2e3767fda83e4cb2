/** What a client cannot change in metadata by an update. */
import type { KubeObject } from '../types.ts';

export function keepSystemMetadata(next: KubeObject, live: KubeObject): void {
  const to = next.metadata;
  const from = live.metadata;
  for (const key of [
    'uid',
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
