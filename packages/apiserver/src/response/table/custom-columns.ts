/** Columns that a CustomResourceDefinition asks for. */

import { stringifyExact } from '../../api/json.ts';
import type { Json, KubeObject } from '../../api/types.ts';
import type { PrinterColumn } from '../../resource/resource-definition.ts';
import { descriptions } from '../../schema/generated/descriptions.ts';
import type { TableColumn } from './columns.ts';
import { ageOf } from './human-duration.ts';
import { findAll } from './json-path.ts';

const ageSpec: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: descriptions['V1ObjectMeta.creationTimestamp'],
};

export function customColumns(specs: readonly PrinterColumn[] | undefined): TableColumn[] {
  return (specs ?? [ageSpec]).map(({ name, type, format, description, priority, jsonPath }) => ({
    name,
    type,
    format: format ?? '',
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority: priority ?? 0,
  }));
}

export function customCells(
  specs: readonly PrinterColumn[] | undefined,
  object: KubeObject,
  now: number,
): Json[] {
  return (specs ?? [ageSpec]).map((spec) => cell(spec, findAll(object, spec.jsonPath), now));
}

function cell({ type }: PrinterColumn, found: readonly unknown[], now: number): Json {
  const [first] = found;
  if (first === undefined) return null;
  switch (type) {
    case 'integer':
      return typeof first === 'number' ? Math.trunc(first) : null;
    case 'number':
      return typeof first === 'number' ? first : null;
    case 'boolean':
      return typeof first === 'boolean' ? first : null;
    case 'date':
      return typeof first === 'string' ? ageOf(first, now) : null;
    default:
      // A path that finds several shows the first, as a cluster does.
      return typeof first === 'string' ? first : stringifyExact(first);
  }
}
