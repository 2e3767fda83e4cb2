/** What is wrong with the files that a volume is made of: their paths, modes, and what they hold. */
import type { FieldFault } from '../../../api/errors.ts';
import { invalidValue, required } from '../../../api/fault.ts';
import { asFile, fieldRefFaults } from './validate-environment.ts';

const MODE = 'must be a number between 0 and 0777 (octal), both inclusive';

export function modeFaults(mode: number | undefined, path: string): FieldFault[] {
  return mode !== undefined && (mode < 0 || mode > 0o777) ? [invalidValue(path, mode, MODE)] : [];
}

type Item = { readonly key?: string; readonly path?: string; readonly mode?: number };

export function itemFaults(items: readonly Item[] | undefined, path: string): FieldFault[] {
  return (items ?? []).flatMap((item, index) => [
    ...(item.key ? [] : [required(`${path}.items[${index}].key`)]),
    ...(item.path
      ? relativeFaults(item.path, `${path}.items[${index}].path`)
      : [required(`${path}.items[${index}].path`)]),
    ...modeFaults(item.mode, `${path}.items[${index}].mode`),
  ]);
}

export function downwardFaults(
  item: {
    readonly path?: string;
    readonly fieldRef?: { readonly fieldPath?: string };
    readonly resourceFieldRef?: { readonly containerName?: string };
  },
  path: string,
  index: number,
): FieldFault[] {
  const at = `${path}.items[${index}]`;
  return [
    ...(item.path ? relativeFaults(item.path, `${path}.path`) : [required(`${path}.path`)]),
    ...(item.fieldRef ? fieldRefFaults(item.fieldRef.fieldPath ?? '', `${at}.fieldRef`, asFile) : []),
    ...(item.fieldRef || item.resourceFieldRef
      ? []
      : [required(path, 'one of fieldRef and resourceFieldRef is required')]),
    ...(item.fieldRef && item.resourceFieldRef
      ? [invalidValue(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]
      : []),
    ...(item.resourceFieldRef && !item.resourceFieldRef.containerName
      ? [required(`${path}.resourceFieldRef.containerName`)]
      : []),
  ];
}

/** A path below another: relative, and never upwards. */
export function relativeFaults(text: string, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  if (text.startsWith('/')) faults.push(invalidValue(path, text, 'must be a relative path'));
  if (text.split('/').includes('..')) faults.push(invalidValue(path, text, "must not contain '..'"));
  return faults;
}
