/** Label and field selectors, evaluated locally: responses to our own writes must be selected as the server does. */
import { parseFieldSelector, parseLabelSelector, selectorMatches } from '@slurm-operator/kubernetes-values';
import type { DeepReadonly, KubeObject } from '../objects/object.ts';

type Match = (object: DeepReadonly<KubeObject>) => boolean;

/** `a=b, c!=d, e in (x,y), f notin (z), g, !h`, as the API server reads it. */
export function labelMatcher(selector: string | undefined): Match {
  const matchExpressions = read(
    'label',
    parseLabelSelector,
    selector,
    'key=value, key!=value, key in (a,b), key or !key',
  );
  return (object) => selectorMatches({ matchExpressions }, object.metadata.labels);
}

/** `spec.nodeName=n1,status.phase!=Running`: paths into the object. A missing field reads as the empty string. */
export function fieldMatcher(selector: string | undefined): Match {
  const terms = read('field', parseFieldSelector, selector, 'path=value or path!=value').map(
    ({ field, equal, value }) => ({ path: field.split('.'), equal, value }),
  );
  return (object) => terms.every(({ path, equal, value }) => (textAt(object, path) === value) === equal);
}

function read<T>(what: string, parse: (text: string) => T, selector: string | undefined, form: string): T {
  try {
    return parse(selector ?? '');
  } catch (error) {
    throw new TypeError(`invalid ${what} selector "${selector}"; expected ${form}`, { cause: error });
  }
}

function textAt(object: unknown, path: readonly string[]): string {
  let at: unknown = object;
  for (const step of path)
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[step] : undefined;
  return typeof at === 'string' || typeof at === 'number' || typeof at === 'boolean' ? String(at) : '';
}
