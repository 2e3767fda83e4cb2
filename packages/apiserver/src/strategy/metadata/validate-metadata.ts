/** Names, labels, annotations, finalizers and owners. */

import { labelValue, qualifiedName } from '@slurm-operator/kubernetes-values';
import type { FieldFault } from '../../api/errors.ts';
import { forbiddenField, invalidValue, required, tooLong } from '../../api/fault.ts';
import type { KubeObject, OwnerReference } from '../../api/types.ts';
import type { ResourceDefinition } from '../../resource/resource-definition.ts';
import { nameFaults } from './name-faults.ts';

const annotationsLimit = 256 * 1024;
const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Faults of the metadata of any object. */
export function validateMetadata({ nameRule }: ResourceDefinition, { metadata }: KubeObject): FieldFault[] {
  const { name = '', generateName = '', labels = {}, annotations = {}, finalizers = [] } = metadata;
  const faults: FieldFault[] = [];
  if (generateName !== '')
    for (const fault of nameFaults(nameRule, generateName.replace(/-$/, 'a')))
      faults.push(invalidValue('metadata.generateName', generateName, fault));
  if (name === '') faults.push(required('metadata.name', 'name or generateName is required'));
  else
    for (const fault of nameFaults(nameRule, name)) faults.push(invalidValue('metadata.name', name, fault));
  faults.push(
    ...annotationFaults(annotations, 'metadata.annotations'),
    ...labelFaults(labels, 'metadata.labels'),
  );
  for (const [index, finalizer] of finalizers.entries()) faults.push(...finalizerFaults(finalizer, index));
  return [...faults, ...ownerFaults(metadata.ownerReferences ?? [])];
}

/** Faults of a change of metadata. Each is told twice, as the real server tells them. */
export function validateMetadataUpdate(next: KubeObject, live: KubeObject): FieldFault[] {
  const faults: FieldFault[] = [];
  const { uid } = next.metadata;
  if (uid !== undefined && uid !== live.metadata.uid)
    faults.push(invalidValue('metadata.uid', uid, 'field is immutable'));
  if (live.metadata.deletionTimestamp !== undefined) {
    const before = live.metadata.finalizers ?? [];
    const added = (next.metadata.finalizers ?? []).filter((finalizer) => !before.includes(finalizer));
    if (added.length > 0)
      faults.push(
        forbiddenField(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((one) => JSON.stringify(one)).join(', ')}}`,
        ),
      );
  }
  return [...faults, ...faults];
}

export function labelFaults(labels: Readonly<Record<string, string>>, path: string): FieldFault[] {
  return Object.entries(labels)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value]) => [
      ...qualifiedName(key).map((fault) => invalidValue(path, key, fault)),
      ...labelValue(value).map((fault) => invalidValue(path, value, fault)),
    ]);
}

export function annotationFaults(annotations: Readonly<Record<string, string>>, path: string): FieldFault[] {
  const faults = Object.keys(annotations).flatMap((key) =>
    qualifiedName(key.toLowerCase()).map((fault) => invalidValue(path, key, fault)),
  );
  let size = 0;
  for (const [key, value] of Object.entries(annotations))
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  return size > annotationsLimit ? [...faults, tooLong(path, annotationsLimit)] : faults;
}

function finalizerFaults(finalizer: string, index: number): FieldFault[] {
  const field = `metadata.finalizers[${index}]`;
  const faults = qualifiedName(finalizer).map((fault) => invalidValue(field, finalizer, fault));
  if (faults.length > 0 || finalizer.includes('/') || standardFinalizers.has(finalizer)) return faults;
  return [
    invalidValue(field, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'),
  ];
}

function ownerFaults(owners: readonly OwnerReference[]): FieldFault[] {
  const faults: FieldFault[] = [];
  const place = 'metadata.ownerReferences';
  for (const owner of owners)
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const)
      if ((owner[field] ?? '') === '')
        faults.push(
          invalidValue(
            `${place}.${field}`,
            owner[field] ?? '',
            field === 'apiVersion' ? 'version must not be empty' : 'must not be empty',
          ),
        );
  const [first, second] = owners.filter((owner) => owner.controller === true);
  if (first !== undefined && second !== undefined)
    faults.push(
      invalidValue(
        place,
        owners.map(inWrittenOrder),
        `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`,
      ),
    );
  return faults;
}

function inWrittenOrder({ apiVersion, kind, name, uid, ...rest }: OwnerReference): OwnerReference {
  return { apiVersion, kind, name, uid, ...rest };
}
