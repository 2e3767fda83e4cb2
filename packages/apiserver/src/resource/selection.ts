/** The selectors of one list, watch or deletecollection request, as one predicate. */
import {
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
  selectorMatches,
} from '@slurm-operator/kubernetes-values';
import { type ApiError, badRequest } from '../api/errors.ts';
import type { KubeObject } from '../api/types.ts';
import type { ResourceDefinition } from './resource-definition.ts';

export interface Selection {
  /** True when every object is selected. */
  readonly all: boolean;
  matches(object: KubeObject): boolean;
}

/** `name` selects one object (the old /watch/…/name paths). */
export function selectionOf(definition: ResourceDefinition, query: URLSearchParams, name = ''): Selection {
  const labels = parsed(parseLabelSelector, query.get('labelSelector'));
  const fields = [...parsed(parseFieldSelector, query.get('fieldSelector'))];
  if (name !== '') fields.push({ field: 'metadata.name', equal: true, value: name });
  const checks = fields.map(({ field, equal, value }) => {
    const read = fieldReader(definition, field);
    if (read === undefined) throw unknownField(definition, field);
    return (object: KubeObject) => (read(object) === value) === equal;
  });
  return {
    all: labels.length === 0 && checks.length === 0,
    matches: (object) =>
      selectorMatches({ matchExpressions: labels }, object.metadata.labels) &&
      checks.every((check) => check(object)),
  };
}

function parsed<T>(parse: (text: string) => T, text: string | null): T {
  try {
    return parse(text ?? '');
  } catch (error) {
    throw error instanceof SelectorError ? badRequest(error.message) : error;
  }
}

/** Kinds with fields of their own say it in other words than kinds without. */
function unknownField({ selectableFields, namespaced, custom }: ResourceDefinition, field: string): ApiError {
  const own = Object.keys(selectableFields ?? {});
  if (own.length > 0 || custom) return badRequest(`field label not supported: ${field}`);
  const known = ['metadata.name', ...(namespaced ? ['metadata.namespace'] : [])];
  return badRequest(
    `${JSON.stringify(field)} is not a known field selector: only ${known.map((one) => JSON.stringify(one)).join(', ')}`,
  );
}

function fieldReader(
  definition: ResourceDefinition,
  field: string,
): ((object: KubeObject) => string) | undefined {
  if (field === 'metadata.name') return (object) => object.metadata.name ?? '';
  if (field === 'metadata.namespace' && definition.namespaced)
    return (object) => object.metadata.namespace ?? '';
  return definition.selectableFields?.[field];
}
