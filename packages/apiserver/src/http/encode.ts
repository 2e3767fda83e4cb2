/** Answers on the wire: JSON or YAML, whole objects, tables or metadata only. */
import { stringify as stringifyYaml } from 'yaml';
import type { RequestContext } from '../ports/request-context.ts';
import { groupVersion } from '../registry/resource-definition.ts';
import type { KubeObject } from '../types.ts';
import type { ListAnswer, ObjectAnswer, TextAnswer } from './answer.ts';

export interface Encoded {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function encode(context: RequestContext, answer: ObjectAnswer | ListAnswer | TextAnswer): Encoded {
  if (answer.type === 'text')
    return {
      status: answer.status,
      contentType: answer.contentType,
      text: answer.text,
      headers: answer.headers ?? {},
    };
  const value = answer.type === 'object' ? answer.object : listObject(answer);
  const headers = answer.type === 'object' ? (answer.headers ?? {}) : {};
  if (/application\/yaml/.test(context.headers.accept ?? ''))
    return { status: answer.status, contentType: 'application/yaml', text: stringifyYaml(value), headers };
  return {
    status: answer.status,
    contentType: 'application/json',
    text: `${JSON.stringify(value)}\n`,
    headers,
  };
}

function listObject({ definition, metadata, items }: ListAnswer): KubeObject {
  return {
    kind: definition.listKind,
    apiVersion: groupVersion(definition),
    metadata: metadata,
    items: items.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item),
  };
}
