/** Objects and lists as tables or as metadata only. */

import { badRequest } from '../api/errors.ts';
import type { KubeObject } from '../api/types.ts';
import type { RequestContext } from '../resource/request-context.ts';
import type { ResourceDefinition } from '../resource/resource-definition.ts';
import { tableCells, tableColumns } from './table/table-printer.ts';

const metaVersion = 'meta.k8s.io/v1';

export function metadataOnly(object: KubeObject): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: metaVersion, metadata: object.metadata };
}

export function metadataList(metadata: object, items: readonly KubeObject[]): KubeObject {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: metaVersion,
    metadata,
    items: items.map(metadataOnly),
  };
}

export interface TableOptions {
  /** A watch sends the columns with its first event only. */
  readonly withColumns?: boolean;
}

/** `items` as rows; `metadata` is that of the list, or of the one object. */
export function table(
  { parts, query }: RequestContext,
  definition: ResourceDefinition,
  metadata: object,
  items: readonly KubeObject[],
  { withColumns = true }: TableOptions = {},
): KubeObject {
  const include = query.get('includeObject') ?? '';
  if (!['', 'None', 'Metadata', 'Object'].includes(include))
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  const now = parts.environment.now();
  return {
    kind: 'Table',
    apiVersion: metaVersion,
    metadata,
    columnDefinitions: withColumns ? tableColumns(definition) : null,
    rows: items.map((object) => ({
      cells: tableCells(definition, object, now),
      ...(include === 'None'
        ? { object: null }
        : { object: include === 'Object' ? object : metadataOnly(object) }),
    })),
  };
}
