/** Bounds the list of updaters: the oldest are folded into one entry per version. Appliers are never folded. */
import { type Manager, type Managers, managerKey } from './managed-fields.ts';

const mostUpdaters = 10;
const ancient = 'ancient-changes';

export function capManagers(managers: Managers): Managers {
  const updaters = [...managers.entries()].filter(([, manager]) => manager.operation === 'Update');
  if (updaters.length <= mostUpdaters) return managers;
  const capped = new Map(managers);
  const oldestFirst = updaters
    .filter(([, manager]) => manager.manager !== ancient)
    .toSorted(([, a], [, b]) => (a.time ?? '').localeCompare(b.time ?? ''));
  let count = updaters.length;
  for (const [key, manager] of oldestFirst) {
    if (count <= mostUpdaters) break;
    const bucket: Manager = { ...manager, manager: ancient, subresource: '' };
    const bucketKey = managerKey(bucket);
    const before = capped.get(bucketKey);
    capped.delete(key);
    capped.set(bucketKey, before ? { ...bucket, fields: before.fields.union(manager.fields) } : bucket);
    if (before) count -= 1;
  }
  return capped;
}
