/** From a PATCH body to the function that makes the new object out of the stored one. */
import { ApiError, badRequest, type FieldFault, invalid } from '../api/errors.ts';
import { clone, equal, isObject, stringifyExact } from '../api/json.ts';
import type { KubeObject } from '../api/types.ts';
import { MalformedBody, parseJson } from '../decode/decode.ts';
import { decodeTyped } from '../decode/decode-object.ts';
import { typeFault } from '../decode/typed-fields.ts';
import type { WriteOptions } from '../decode/write-options.ts';
import { applyJsonPatch, mergePatch } from '../patch/json-patch.ts';
import { goFormat, StrategicMergeError, strategicMerge } from '../patch/strategic-merge.ts';
import type { RequestContext } from '../resource/request-context.ts';
import type { ResourceDefinition } from '../resource/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';

/** What a patch is held against: a resource, or a subresource with a kind of its own. */
export interface PatchTarget {
  readonly definition: ResourceDefinition;
  readonly schema: Schema | undefined;
  readonly custom: boolean;
}

export type Patcher = (live: KubeObject) => KubeObject;

/** `live` may be shared; the result is a new object, decoded as a body would be. */
export function patcher(
  context: RequestContext,
  target: PatchTarget,
  type: string,
  text: string,
  options: WriteOptions,
): Patcher {
  const change = changeOf(target, type, text);
  return (live) => {
    const patched = change(live);
    if (!isObject(patched)) throw invalidPatch(JSON.stringify(patched), 'the result is not an object');
    // A patch may take the metadata away as a whole; what the server keeps comes back.
    patched.metadata ??= {};
    const before = shown(patched, live, target);
    const faults = decodePatched(context, target, patched, before, text);
    if (faults.length > 0) {
      if (options.fieldValidation === 'Strict')
        throw invalidPatch(before, `strict decoding error: ${faults.join(', ')}`);
      if (options.fieldValidation === 'Warn')
        for (const fault of faults) if (!context.warnings.includes(fault)) context.warnings.push(fault);
    }
    // A patch may take everything away; what is left is an object of which nothing is said.
    patched.metadata ??= {};
    return patched;
  };
}

function changeOf({ schema, custom }: PatchTarget, type: string, text: string): Patcher {
  switch (type) {
    case 'application/merge-patch+json': {
      const change = parsed(text, 'map[string]interface {}', isObject);
      return (live) => mergePatch(live, change) as KubeObject;
    }
    case 'application/json-patch+json': {
      const operations = parsed(text, '[]handlers.jsonPatchOp', Array.isArray);
      return (live) => applyJsonPatch(clone(live), operations) as KubeObject;
    }
    case 'application/strategic-merge-patch+json':
      if (!custom) {
        const change = parsed(text, 'map[string]interface {}', isObject) as Record<string, unknown>;
        return (live) => strategically(live, change, schema);
      }
      break;
    default:
      if (!custom)
        throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} });
  }
  throw new ApiError(
    415,
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  );
}

function strategically(
  live: KubeObject,
  change: Record<string, unknown>,
  schema: Schema | undefined,
): KubeObject {
  try {
    const merged = clone(strategicMerge(live, change, schema)) as KubeObject;
    // A strategic patch is read value by value, so the words differ from those of a decoder.
    const fault = schema === undefined ? undefined : typeFault(merged, schema);
    const words = fault === undefined ? undefined : /cannot unmarshal (\w+).* of type (.+)$/.exec(fault);
    if (words) throw invalidPatch(goFormat(change), cannotRestore(words[1] ?? '', words[2] ?? ''));
    return merged;
  } catch (error) {
    if (error instanceof StrategicMergeError) throw new ApiError(500, '', error.message);
    throw error;
  }
}

/** What a reader that goes value by value says of one that its field cannot hold. */
function cannotRestore(jsonType: string, goType: string): string {
  const from = { object: 'map', array: 'slice', number: 'int64' }[jsonType] ?? jsonType;
  if (goType.startsWith('[]')) return `cannot restore slice from ${from}`;
  if (goType.startsWith('map[')) return `cannot restore map from ${from}`;
  if (/^v\d/.test(goType)) return `cannot restore struct from: ${from}`;
  return from === 'int64' && goType === 'string'
    ? 'cannot convert int64 to string'
    : `unrecognized type: ${goType}`;
}

function decodePatched(
  context: RequestContext,
  target: PatchTarget,
  patched: KubeObject,
  before: string,
  text: string,
): string[] {
  try {
    return decodeTyped(context, target.definition, target.schema, patched, parseJson(text).duplicates);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error;
    const why = /cannot be handled as a [^:]+: (.*)$/s.exec(error.message)?.[1];
    throw why === undefined ? error : invalidPatch(before, why);
  }
}

function parsed(text: string, goType: string, fits: (value: unknown) => boolean): unknown {
  try {
    const { value } = parseJson(text);
    if (fits(value)) return value;
    const actual = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    throw new MalformedBody(`json: cannot unmarshal ${actual} into Go value of type ${goType}`);
  } catch (error) {
    if (error instanceof MalformedBody) throw badRequest(`error decoding patch: ${error.message}`);
    throw error;
  }
}

/** 422 on the field `patch`, about no object in particular. */
function invalidPatch(value: string, why: string): ApiError {
  const fault: FieldFault = {
    reason: 'FieldValueInvalid',
    field: 'patch',
    message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  };
  const { status } = invalid({ group: '', kind: '' }, '', [fault]);
  return new ApiError(422, 'Invalid', status.message ?? '', {
    details: { causes: status.details?.causes ?? [] },
  });
}

const metadataOrder = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
];

/** The patched object as messages show it: sorted, but for the parts of a built-in kind that the patch left alone. */
function shown(patched: KubeObject, live: KubeObject, { custom }: PatchTarget): string {
  const sorted = sortKeys(patched) as Record<string, unknown>;
  if (!custom && equal(patched.metadata, live.metadata)) {
    const metadata = patched.metadata as Record<string, unknown>;
    sorted['metadata'] = Object.fromEntries(
      metadataOrder.filter((key) => metadata[key] !== undefined).map((key) => [key, metadata[key]]),
    );
  }
  return stringifyExact(sorted);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sortKeys(value[key])]),
  );
}
