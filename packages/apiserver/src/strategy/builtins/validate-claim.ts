/** What is wrong with the spec of a volume claim, of a claim itself or of a template of claims. */

import { dnsSubdomain, Quantity } from '@slurm-operator/kubernetes-values';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { FieldFault } from '../../api/errors.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../api/fault.ts';
import { validateLabelSelector } from './label-selector-rules.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

type ClaimSpec = NonNullable<IPersistentVolumeClaim['spec']>;

export function claimSpecFaults(spec: ClaimSpec | undefined, path: string): FieldFault[] {
  if (!spec) return [];
  const modes = accessModeFaults(
    spec.accessModes,
    `${path}.accessModes`,
    'at least 1 access mode is required',
  );
  const selector = validateLabelSelector(spec.selector, `${path}.selector`);
  const faults = spec.accessModes?.length ? [...selector, ...modes] : [...modes, ...selector];
  const storage = spec.resources?.requests?.['storage'];
  if (storage === undefined) faults.push(required(`${path}.resources[storage]`));
  else if ((Quantity.parse(storage) ?? Quantity.ZERO).compare(Quantity.ZERO) <= 0)
    faults.push(invalidValue(`${path}.resources[storage]`, String(storage), 'must be greater than zero'));
  const name = spec.storageClassName;
  if (name)
    for (const text of dnsSubdomain(name)) faults.push(invalidValue(`${path}.storageClassName`, name, text));
  if (spec.volumeMode !== undefined && !['Block', 'Filesystem'].includes(spec.volumeMode))
    faults.push(notSupported(`${path}.volumeMode`, spec.volumeMode, ['Block', 'Filesystem']));
  for (const key of ['dataSource', 'dataSourceRef'] as const)
    if (spec[key]) faults.push(...dataSourceFaults(spec[key], `${path}.${key}`));
  const attributes = spec.volumeAttributesClassName;
  if (attributes)
    for (const text of dnsSubdomain(attributes))
      faults.push(invalidValue(`${path}.volumeAttributesClassName`, attributes, text));
  return faults;
}

interface DataSource {
  readonly name?: string;
  readonly kind?: string;
  readonly apiGroup?: string;
}

function dataSourceFaults({ name, kind, apiGroup }: DataSource, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  if (!name) faults.push(required(`${path}.name`));
  if (!kind) faults.push(required(`${path}.kind`));
  if (!apiGroup && kind !== 'PersistentVolumeClaim')
    faults.push(
      invalidValue(path, kind ?? '', "must be 'PersistentVolumeClaim' when referencing the default apiGroup"),
    );
  if (apiGroup)
    faults.push(...dnsSubdomain(apiGroup).map((text) => invalidValue(`${path}.apiGroup`, apiGroup, text)));
  return faults;
}

export function accessModeFaults(
  modes: readonly string[] | undefined,
  path: string,
  whenEmpty?: string,
): FieldFault[] {
  if (!modes?.length) return [required(path, whenEmpty)];
  const faults = modes
    .filter((mode) => !ACCESS_MODES.includes(mode))
    .map((mode) => notSupported(path, mode, ACCESS_MODES));
  const others = modes.filter((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  if (modes.includes('ReadWriteOncePod') && others.length > 0)
    faults.push(forbiddenField(path, 'may not use ReadWriteOncePod with other access modes'));
  return faults;
}
