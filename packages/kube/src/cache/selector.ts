/** Label and field selectors evaluated here, so that answers to our own writes are filed as the server would. */
import type { DeepReadonly, KubeObject } from '../objects/object.ts';

type Match = (object: DeepReadonly<KubeObject>) => boolean;

/** `a=b, c!=d, e in (x,y), f notin (z), g, !h`, as the API server reads it. */
export function labelMatcher(selector: string | undefined): Match {
  const requirements = splitRequirements(selector ?? '').map(parseRequirement);
  return (object) => requirements.every((holds) => holds(object.metadata.labels ?? {}));
}

/** `spec.nodeName=n1,status.phase!=Running`: paths into the object. A missing field reads as the empty string. */
export function fieldMatcher(selector: string | undefined): Match {
  const terms = (selector ?? '')
    .split(',')
    .filter((term) => term.trim() !== '')
    .map((term) => {
      const match = /^\s*([^!=\s]+)\s*(==|!=|=)\s*(.*?)\s*$/.exec(term);
      if (match === null)
        throw new TypeError(`field selector "${term}" is not of the form path=value or path!=value`);
      const [, path = '', operator = '', value = ''] = match;
      return { path: path.split('.'), equal: operator !== '!=', value };
    });
  return (object) => terms.every(({ path, equal, value }) => (textAt(object, path) === value) === equal);
}

function textAt(object: unknown, path: readonly string[]): string {
  let at: unknown = object;
  for (const step of path)
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[step] : undefined;
  return typeof at === 'string' || typeof at === 'number' || typeof at === 'boolean' ? String(at) : '';
}

/** Commas within parentheses do not separate. */
function splitRequirements(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function parseRequirement(text: string): (labels: Readonly<Record<string, string>>) => boolean {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(text);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = new Set(list.split(',').map((value) => value.trim()));
    return operator === 'in'
      ? (labels) => Object.hasOwn(labels, key) && values.has(labels[key] ?? '')
      : (labels) => !Object.hasOwn(labels, key) || !values.has(labels[key] ?? '');
  }
  const absent = /^!\s*([^\s=!]+)$/.exec(text)?.[1];
  if (absent !== undefined) return (labels) => !Object.hasOwn(labels, absent);
  const equality = /^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$/.exec(text);
  if (equality !== null) {
    const [, key = '', operator, value = ''] = equality;
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  if (/^[^\s=!()]+$/.test(text)) return (labels) => Object.hasOwn(labels, text);
  throw new TypeError(
    `label selector "${text}" cannot be read; write key=value, key!=value, key in (a,b), key or !key`,
  );
}
