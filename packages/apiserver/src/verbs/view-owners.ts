/** Field ownership between an object and a view of it: only the field that the view can write goes across. */

import type { ManagedFieldsEntry } from '../api/types.ts';
import { FieldSet } from '../apply/field-set.ts';
import { groupVersion, type ViewSubresource } from '../resource/resource-definition.ts';

const viewPath = ['f:spec', 'f:replicas'];

function parentPath({ ownedPath = ['spec', 'replicas'] }: ViewSubresource): string[] {
  return ownedPath.map((key) => `f:${key}`);
}

/** The owners of the object that own what the view shows, as owners of the view. */
export function viewOwners(
  parent: readonly ManagedFieldsEntry[],
  view: ViewSubresource,
): ManagedFieldsEntry[] {
  const path = parentPath(view);
  return parent
    .filter(({ fieldsV1 }) => FieldSet.fromFieldsV1(fieldsV1).has(path))
    .map((entry) => ({
      ...entry,
      apiVersion: groupVersion(view.kind),
      fieldsV1: FieldSet.of(viewPath).toFieldsV1(),
    }));
}

/** The owners of the object after a write through the view. */
export function parentOwners(
  parent: readonly ManagedFieldsEntry[],
  ofView: readonly ManagedFieldsEntry[],
  view: ViewSubresource,
  apiVersion: string,
  subresource: string,
): ManagedFieldsEntry[] {
  const owned = FieldSet.of(parentPath(view));
  const owners = ofView.filter(({ fieldsV1 }) => FieldSet.fromFieldsV1(fieldsV1).has(viewPath));
  const isSame = (a: ManagedFieldsEntry, b: ManagedFieldsEntry) =>
    a.manager === b.manager && a.operation === b.operation && (a.subresource ?? '') === (b.subresource ?? '');
  const kept = parent.flatMap((entry) => {
    const fields = FieldSet.fromFieldsV1(entry.fieldsV1).difference(owned);
    const fieldsV1 = (
      owners.some((owner) => isSame(owner, entry)) ? fields.union(owned) : fields
    ).toFieldsV1();
    return Object.keys(fieldsV1).length === 0 ? [] : [{ ...entry, fieldsV1 }];
  });
  const fresh = owners
    .filter((owner) => !parent.some((entry) => isSame(owner, entry)))
    .map(({ manager, operation }) => ({
      manager,
      operation,
      apiVersion,
      fieldsType: 'FieldsV1',
      fieldsV1: owned.toFieldsV1(),
      subresource,
    }));
  return sorted([...kept, ...fresh] as ManagedFieldsEntry[]);
}

/** Appliers first, then by time; one without a time comes before all others. */
function sorted(entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  const rank = ({ operation, time, manager = '' }: ManagedFieldsEntry) =>
    `${operation === 'Apply' ? 0 : 1} ${time ?? ''} ${manager}`;
  return entries.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}
