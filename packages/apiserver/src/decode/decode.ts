/** Request bodies: JSON or YAML text to a plain value. */
import { ApiError, notImplemented } from '../api/errors.ts';
import { parseExact } from '../api/json.ts';
import { duplicateKeys, JsonSyntaxError } from '../api/json-scan.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { decodeProtobuf, ProtobufFault } from './protobuf.ts';
import { readYaml, YamlSyntaxError } from './yaml-text.ts';

const protobufType = 'application/vnd.kubernetes.protobuf';

/** What is wrong with a text, in the words of the real server. */
export class MalformedBody extends Error {
  override readonly name = 'MalformedBody';
  /** Whether the text was read as JSON, which the messages of the real server say. */
  readonly asJson: boolean;

  constructor(message: string, options: ErrorOptions & { readonly asJson?: boolean } = {}) {
    super(message, options);
    this.asJson = options.asJson ?? true;
  }
}

export interface Decoded {
  readonly value: unknown;
  /** A sentence for each key given twice; the last one counts. */
  readonly duplicates: readonly string[];
  /** What a strict reader says before those sentences. */
  readonly duplicatesPrefix?: string;
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
    const duplicates = duplicateKeys(text).map((path) => `duplicate field "${path}"`);
    // The one key that a plain object cannot hold as others do.
    if (text.includes('"__proto__"')) throw notImplemented('objects with a key named __proto__');
    const value = parseExact(text);
    return { value: loneSurrogate.test(text) ? wellFormed(value) : value, duplicates };
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new MalformedBody(error.message, { cause: error });
    throw error;
  }
}

export function parseYaml(text: string): Decoded {
  const quick = jsonOrNothing(text);
  if (quick !== undefined) return { value: quick, duplicates: [] };
  if (/^\s*"?__proto__"?\s*:/m.test(text)) throw notImplemented('objects with a key named __proto__');
  try {
    return { ...readYaml(text), duplicatesPrefix: 'yaml: unmarshal errors:\n  ' };
  } catch (error) {
    if (error instanceof YamlSyntaxError)
      throw new MalformedBody(error.message, { cause: error, asJson: false });
    throw error;
  }
}

/** Most clients write their YAML as JSON, which is read many times faster. */
function jsonOrNothing(text: string): unknown {
  if (!/^\s*\{/.test(text) || text.includes('"__proto__"')) return undefined;
  try {
    return duplicateKeys(text).length === 0 ? parseExact(text) : undefined;
  } catch {
    return undefined;
  }
}

/** A surrogate that is written as an escape may stand alone. */
const loneSurrogate = /\\u[dD][89a-fA-F]/;

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}
