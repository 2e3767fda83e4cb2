/** What a version of a definition has beside its schema: scale paths, printer columns, selectable fields. */
import type { FieldFault } from '../../api/errors.ts';
import type { PrinterColumn } from '../../resource/resource-definition.ts';
import type { Schema } from '../../schema/schema.ts';
import type { CustomVersion, ScalePaths } from './definition.ts';
import { duplicateValue, invalidValue, requiredValue, tooMany } from './faults.ts';
import { validFieldPath } from './field-path.ts';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const mostSelectable = 8;

export function validateSubresources(parts: CustomVersion['subresources'], path: string): FieldFault[] {
  if (!parts?.scale) return [];
  const {
    specReplicasPath = '',
    statusReplicasPath = '',
    labelSelectorPath = '',
  } = parts.scale as Partial<ScalePaths>;
  return [
    ...scalePath(specReplicasPath, `${path}.scale.specReplicasPath`, ['.spec'], true),
    ...scalePath(statusReplicasPath, `${path}.scale.statusReplicasPath`, ['.status'], true),
    ...scalePath(labelSelectorPath, `${path}.scale.labelSelectorPath`, ['.spec', '.status'], false),
  ];
}

function scalePath(text: string, field: string, roots: readonly string[], isRequired: boolean): FieldFault[] {
  if (text === '') return isRequired ? [requiredValue(field)] : [];
  const faults = simpleJsonPath(text, field);
  if (faults.length > 0 || roots.some((root) => text.startsWith(`${root}.`))) return faults;
  const under = roots.length > 1 ? `either ${roots.join(' or ')}` : roots[0];
  return [invalidValue(field, text, `should be a json path under ${under}`)];
}

function simpleJsonPath(text: string, field: string): FieldFault[] {
  return text.startsWith('.')
    ? []
    : [invalidValue(field, text, 'must be a simple json path starting with .')];
}

export function validateColumns(
  columns: CustomVersion['additionalPrinterColumns'],
  path: string,
): FieldFault[] {
  return ((columns ?? []) as Partial<PrinterColumn>[]).flatMap(
    ({ name = '', type = '', format = '', jsonPath = '' }, index) => {
      const at = `${path}.additionalPrinterColumns[${index}]`;
      const faults: FieldFault[] = [];
      const oneOf = (words: readonly string[]): string => `must be one of ${words.join(',')}`;
      if (name === '') faults.push(requiredValue(`${at}.name`));
      if (type === '') faults.push(requiredValue(`${at}.type`, oneOf(columnTypes)));
      else if (!columnTypes.includes(type)) faults.push(invalidValue(`${at}.type`, type, oneOf(columnTypes)));
      if (format !== '' && !columnFormats.includes(format))
        faults.push(invalidValue(`${at}.format`, format, oneOf(columnFormats)));
      if (jsonPath === '') faults.push(requiredValue(`${at}.JSONPath`));
      else faults.push(...simpleJsonPath(jsonPath, `${at}.JSONPath`));
      return faults;
    },
  );
}

export function validateSelectableFields(
  fields: CustomVersion['selectableFields'],
  schema: Schema | undefined,
  path: string,
): FieldFault[] {
  if (!fields?.length || schema === undefined) return [];
  const faults: FieldFault[] = [];
  const seen = new Set<string>();
  for (const [index, { jsonPath = '' }] of (fields as { jsonPath?: string }[]).entries()) {
    const field = `${path}.selectableFields[${index}].jsonPath`;
    if (jsonPath === '') {
      faults.push(requiredValue(field));
      continue;
    }
    const found = validFieldPath(jsonPath, schema, false);
    if ('fault' in found) {
      faults.push(invalidValue(field, jsonPath, `is an invalid path: ${found.fault}`));
      continue;
    }
    if (found.path[0] === 'metadata')
      faults.push(invalidValue(field, jsonPath, 'must not point to fields in metadata'));
    if (!['string', 'boolean', 'integer'].includes(found.schema.type ?? ''))
      faults.push(
        invalidValue(
          field,
          jsonPath,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        ),
      );
    const key = found.path.join('.');
    if (seen.has(key)) faults.push(duplicateValue(field, jsonPath));
    seen.add(key);
  }
  if (seen.size > mostSelectable) faults.push(tooMany(`${path}.selectableFields`, seen.size, mostSelectable));
  return faults;
}

/** Texts that clients get as a warning must be printable, and only deprecated versions have one. */
export function validateDeprecation(
  { deprecated, deprecationWarning }: CustomVersion,
  path: string,
): FieldFault[] {
  if (deprecationWarning === undefined) return [];
  const fault = (detail: string): FieldFault[] => [
    invalidValue(`${path}.deprecationWarning`, deprecationWarning, detail),
  ];
  if (deprecated !== true) return fault('can only be set for deprecated versions');
  if (deprecationWarning === '') return fault('must not be an empty string');
  const at = Array.from(deprecationWarning).findIndex((letter) => /[\p{C}\p{Zl}\p{Zp}]/u.test(letter));
  return [
    ...(Buffer.byteLength(deprecationWarning) > 256 ? fault('must be <= 256 characters long') : []),
    ...(at < 0
      ? []
      : fault(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`)),
  ];
}
