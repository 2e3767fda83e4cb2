/** A request body as an object of the resource that the URL names. */

import { ApiError, badRequest, invalid } from '../api/errors.ts';
import { isObject, stringifyExact } from '../api/json.ts';
import { untyped } from '../api/typed.ts';
import type { KubeObject } from '../api/types.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { groupVersion, type ResourceDefinition, schemaOf } from '../resource/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';
import { customResourceSchema } from '../schema/shape.ts';
import { decodeBody, MalformedBody } from './decode.ts';
import { dropUnknownFields, roundToFloats, typeFault } from './typed-fields.ts';
import type { WriteOptions } from './write-options.ts';

/** Decoded, of the right kind, without unknown fields: they are refused, warned of or dropped as the request asks. */
export async function decodeObject(
  context: RequestContext,
  definition: ResourceDefinition,
  options: Pick<WriteOptions, 'fieldValidation'>,
): Promise<KubeObject> {
  const { value, duplicates, duplicatesPrefix = '' } = await readBody(context, definition.kind);
  const object = asObject(definition, value);
  const schema = schemaOf(definition);
  const faults = decodeTyped(context, definition, schema, object, duplicates);
  if (faults.length > 0) {
    if (options.fieldValidation === 'Strict')
      throw cannotHandle(
        definition,
        definition.kind,
        `strict decoding error: ${duplicates.length === 0 ? '' : duplicatesPrefix}${faults.join(', ')}`,
      );
    if (options.fieldValidation === 'Warn') context.warnings.push(...faults);
  }
  return checkCustomKind(definition, object);
}

/**
 * Checks kind and types and takes unknown fields out, in place. Answers a sentence for each unknown or duplicate field;
 * throws a 400 for what cannot be decoded at all.
 */
export function decodeTyped(
  context: RequestContext,
  definition: ResourceDefinition,
  schema: Schema | undefined,
  object: KubeObject,
  duplicates: readonly string[],
): string[] {
  fillKind(context, definition, object);
  if (schema === undefined) return [...duplicates];
  // A custom resource is typed in its metadata only; its schema validates the rest.
  const typed = definition.custom ? schema.properties?.['metadata'] : schema;
  const value = definition.custom ? (object.metadata as Record<string, unknown>) : object;
  const fault = typed === undefined ? undefined : typeFault(value, typed);
  if (fault !== undefined) throw cannotHandle(definition, definition.kind, fault);
  if (typed !== undefined) roundToFloats(value, typed);
  if (definition.custom) dropEmptyMetadata(object);
  const unknown = dropUnknownFields(
    object,
    schemaCheck(context, definition, schema, object),
    definition.custom,
  );
  return [
    ...duplicates,
    ...(definition.custom ? unknown.toSorted() : unknown).map((path) => `unknown field "${path}"`),
  ];
}

/** Metadata of a custom resource is typed: what is empty there is not said at all. */
function dropEmptyMetadata({ metadata }: KubeObject): void {
  for (const key of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const)
    if (metadata[key] !== undefined && Object.keys(metadata[key] ?? {}).length === 0) delete metadata[key];
}

/** Of a version that is not served nothing is known but what every object has. */
function schemaCheck(
  { parts }: RequestContext,
  definition: ResourceDefinition,
  schema: Schema,
  { apiVersion = '' }: KubeObject,
): Schema {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  if (!definition.custom || parts.registry.find(definition.group, version, definition.plural)) return schema;
  return customResourceSchema({ type: 'object' });
}

async function readBody(context: RequestContext, kind: string) {
  try {
    return await decodeBody(context);
  } catch (error) {
    if (error instanceof MalformedBody)
      throw unrecognized(
        kind,
        `${error.asJson ? "couldn't get version/kind; json parse error: " : ''}${error.message}`,
        await context.body(),
      );
    throw error;
  }
}

function asObject(definition: ResourceDefinition, read: unknown): KubeObject {
  // Null, such as an empty YAML document, is an object of which nothing is said.
  const value = read === null && !definition.custom ? {} : read;
  if (!isObject(value)) {
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${definition.kind}): couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (${summary(stringifyExact(value))})`,
    );
  }
  const object = untyped(value);
  if (definition.custom) {
    const text = stringifyExact(value);
    for (const [field, name] of [
      ['kind', 'Kind'],
      ['apiVersion', 'apiVersion'],
    ] as const)
      if ((object[field] ?? '') === '')
        throw unrecognized(definition.kind, `Object '${name}' is missing in '${text}'`, Buffer.from(text));
  }
  object.metadata ??= {};
  return object;
}

/** Built-in kinds need not name themselves, but must not name another. */
function fillKind(context: RequestContext, definition: ResourceDefinition, object: KubeObject): void {
  if (definition.custom) return;
  const expected = groupVersion(definition);
  for (const key of ['kind', 'apiVersion'] as const) {
    // Null is as good as nothing; anything but a text cannot be read at all.
    if (object[key] === null) delete object[key];
    else if (object[key] !== undefined && typeof object[key] !== 'string')
      throw unreadable(definition.kind, key, object[key]);
  }
  object.kind = object.kind === undefined || object.kind === '' ? definition.kind : object.kind;
  object.apiVersion =
    object.apiVersion === undefined || object.apiVersion === '' ? expected : object.apiVersion;
  if (object.kind !== definition.kind || object.apiVersion !== expected)
    throw wrongKind(context, definition, object);
}

/** A custom resource of another kind or version is found out later than a built-in one. */
export function checkCustomKind(definition: ResourceDefinition, object: KubeObject): KubeObject {
  if (!definition.custom) return object;
  const expected = groupVersion(definition);
  if (object.apiVersion !== expected)
    throw badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`,
    );
  if (object.kind !== definition.kind)
    throw invalid({ group: definition.group, kind: object.kind ?? '' }, object.metadata.name ?? '', [
      {
        reason: 'FieldValueInvalid',
        field: 'kind',
        message: `Invalid value: ${JSON.stringify(object.kind)}: must be ${definition.kind}`,
      },
    ]);
  return object;
}

function unreadable(kind: string, key: string, value: unknown): ApiError {
  const type = Array.isArray(value) ? 'array' : typeof value;
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go struct field .${key} of type string`,
  );
}

function wrongKind({ parts }: RequestContext, definition: ResourceDefinition, object: KubeObject): ApiError {
  const { kind = '', apiVersion = '' } = object;
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  const isList = kind === 'List' && apiVersion === 'v1';
  const known = parts.registry.findKind(group, kind.replace(/List$/, ''), version);
  const why =
    !isList && (known === undefined || known.custom)
      ? `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/api/legacyscheme/scheme.go:30"`
      : `converting (${version}.${kind}) to (${definition.group === '' ? 'core' : definition.group.split('.')[0]}.${definition.kind}): unknown conversion`;
  return cannotHandle(definition, kind, why);
}

export function cannotHandle(definition: ResourceDefinition, kind: string, why: string): ApiError {
  return badRequest(
    `${kind} in version "${definition.version}" cannot be handled as a ${definition.kind}: ${why}`,
  );
}

function unrecognized(kind: string, why: string, body: Buffer): ApiError {
  const text = body.toString('utf8');
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(text)})`,
  );
}

/** The beginning of a body as messages show it. */
function summary(text: string): string {
  if (text === '') return '<empty>';
  const more = text.length > 30 ? ' ...' : '';
  return `${text.startsWith('{') ? text.slice(0, 30) : Buffer.from(text.slice(0, 30)).toString('hex')}${more}`;
}
