/** Request bodies: JSON or YAML text to a plain value. */
import { parseDocument } from 'yaml';
import { ApiError, notImplemented } from '../errors.ts';
import type { RequestContext } from '../ports/request-context.ts';
import { duplicateKeys, JsonSyntaxError } from './json-scan.ts';
import { decodeProtobuf, ProtobufFault } from './protobuf.ts';

const protobufType = 'application/vnd.kubernetes.protobuf';

/** What is wrong with a text, in the words of the real server. */
export class MalformedBody extends Error {
  override readonly name = 'MalformedBody';
}

export interface Decoded {
  readonly value: unknown;
  /** Paths of keys given twice; the last one counts. */
  readonly duplicates: readonly string[];
}

export function mediaType(header: string | undefined): string {
  return (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** The body by its content type; a missing one means JSON. Throws MalformedBody, or a 415. */
export async function decodeBody(context: RequestContext): Promise<Decoded> {
  const type = mediaType(context.headers['content-type']);
  const body = await context.body();
  const text = type === protobufType ? '' : body.toString('utf8');
  switch (type) {
    case '':
    case 'application/json':
      return parseJson(text);
    case 'application/yaml':
    case 'application/x-yaml':
      return parseYaml(text);
    case protobufType: {
      const value = readProtobuf(body);
      if (value !== undefined) return { value, duplicates: [] };
      throw notImplemented('this kind in protobuf; send it as application/json');
    }
    default:
      throw new ApiError(
        415,
        'UnsupportedMediaType',
        `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, ${protobufType}`,
      );
  }
}

function readProtobuf(body: Buffer): unknown {
  try {
    return decodeProtobuf(body);
  } catch (error) {
    if (error instanceof ProtobufFault) throw new MalformedBody(error.message, { cause: error });
    throw error;
  }
}

export function parseJson(text: string): Decoded {
  try {
    const duplicates = duplicateKeys(text);
    // The one key that a plain object cannot hold as others do.
    if (text.includes('"__proto__"')) throw notImplemented('objects with a key named __proto__');
    return { value: JSON.parse(text), duplicates };
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new MalformedBody(error.message, { cause: error });
    throw error;
  }
}

export function parseYaml(text: string): Decoded {
  const quick = jsonOrNothing(text);
  if (quick !== undefined) return { value: quick, duplicates: [] };
  const document = parseDocument(text, { uniqueKeys: false, version: '1.2' });
  const [fault] = document.errors;
  if (fault !== undefined)
    throw new MalformedBody(`error converting YAML to JSON: yaml: ${fault.message.split('\n')[0] ?? ''}`);
  return { value: document.toJS({ maxAliasCount: 100 }), duplicates: [] };
}

/** Most clients write their YAML as JSON, which is read many times faster. */
function jsonOrNothing(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
