/** Answers on the wire: JSON or YAML, whole objects, tables or metadata only. */
import { stringify as stringifyYaml } from 'yaml';
import { stringifyExact } from '../api/json.ts';
import type { KubeObject } from '../api/types.ts';
import type { ListAnswer, ObjectAnswer, TextAnswer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { groupVersion } from '../resource/resource-definition.ts';
import { negotiate, type Representation } from './negotiate.ts';
import { metadataList, metadataOnly, table } from './transform.ts';

export interface Encoded {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A Status is understood by every client, so it goes out even to one that asks for something else. */
const plain: Representation = { format: 'json', as: 'object', pretty: false };

export function encode(context: RequestContext, answer: ObjectAnswer | ListAnswer | TextAnswer): Encoded {
  if (answer.type === 'text')
    return {
      status: answer.status,
      contentType: answer.contentType,
      text: answer.text,
      headers: answer.headers ?? {},
    };
  const headers = answer.type === 'object' ? (answer.headers ?? {}) : {};
  const form = answer.status < 400 ? negotiate(context) : formOfError(context);
  const value =
    answer.type === 'object' ? oneObject(context, answer, form) : listObject(context, answer, form);
  return { status: answer.status, headers, ...serialize(value, form) };
}

function formOfError(context: RequestContext): Representation {
  try {
    return { ...negotiate(context), as: 'object' };
  } catch {
    return plain;
  }
}

export function serialize(
  value: object,
  { format, pretty }: Representation,
): { contentType: string; text: string } {
  if (format === 'yaml')
    return {
      contentType: 'application/yaml',
      text: stringifyYaml(value, { sortMapEntries: true, indentSeq: false, lineWidth: 0, version: '1.1' })
        // The real server's YAML does not quote the dot of fieldsV1.
        .replaceAll(/^(\s*)"\.":/gm, '$1.:'),
    };
  return { contentType: 'application/json', text: `${stringifyExact(value, pretty ? 2 : 0)}\n` };
}

function oneObject(
  context: RequestContext,
  { object, definition }: ObjectAnswer,
  { as }: Representation,
): KubeObject {
  if (definition === undefined || as === 'object') return object;
  if (as === 'metadata') return metadataOnly(object);
  return table(context, definition, { resourceVersion: object.metadata.resourceVersion }, [object]);
}

function listObject(context: RequestContext, answer: ListAnswer, { as }: Representation): KubeObject {
  const { definition, metadata, items } = answer;
  if (as === 'table') return table(context, definition, metadata, items);
  if (as === 'metadata') return metadataList(metadata, items);
  return {
    kind: definition.listKind,
    apiVersion: groupVersion(definition),
    // Lists of custom resources always say that they are whole.
    metadata: definition.custom ? { continue: '', ...metadata } : metadata,
    // Items of custom resources keep kind and apiVersion, those of built-in kinds do not.
    items: definition.custom ? items : items.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item),
  };
}
