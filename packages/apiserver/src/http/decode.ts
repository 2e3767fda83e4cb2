/** Request bodies: JSON or YAML to an object. */
import { parse as parseYaml } from 'yaml';
import { ApiError, badRequest } from '../errors.ts';
import type { RequestContext } from '../ports/request-context.ts';
import type { JsonObject } from '../types.ts';

export function mediaType(header: string | undefined): string {
  return (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** The body as an object; undefined for an empty body. */
export async function decodeBody(context: RequestContext): Promise<JsonObject | undefined> {
  const type = mediaType(context.headers['content-type']);
  const bytes = await context.body();
  if (bytes.length === 0) return undefined;
  switch (type) {
    case '':
    case 'application/json':
      return asObject(parseJson(bytes.toString('utf8')));
    case 'application/yaml':
    case 'application/x-yaml':
      return asObject(parseYamlText(bytes.toString('utf8')));
    default:
      throw new ApiError(
        415,
        'UnsupportedMediaType',
        `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml`,
      );
  }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`the object provided is not valid JSON: ${(error as Error).message}`);
  }
}

export function parseYamlText(text: string): unknown {
  try {
    return parseYaml(text, { maxAliasCount: 100 });
  } catch (error) {
    throw badRequest(`the object provided is not valid YAML: ${(error as Error).message}`);
  }
}

function asObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('the body of the request is not an object');
  return value as JsonObject;
}
