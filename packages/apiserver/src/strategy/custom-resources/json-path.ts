/** The simple dotted paths that subresources, columns and selectable fields use: `.spec.replicas`, `.a['b.c']`. */
import { isObject } from '../../api/json.ts';

/** The names along a path; indices and filters are for columns only and not read here. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/\.?([A-Za-z_][\w-]*)|\['([^']+)'\]/g)].map((match) => match[1] ?? match[2] ?? '');
}

export function readPath(object: unknown, path: string): unknown {
  let value = object;
  for (const name of pathNames(path)) {
    if (!isObject(value)) return undefined;
    value = value[name];
  }
  return value;
}

/** Sets a value, making the objects on the way. */
export function writePath(object: Record<string, unknown>, path: string, value: unknown): void {
  const names = pathNames(path);
  const last = names.pop();
  if (last === undefined) return;
  let holder = object;
  for (const name of names) {
    const next = holder[name];
    if (isObject(next)) {
      holder = next;
    } else {
      const made: Record<string, unknown> = {};
      holder[name] = made;
      holder = made;
    }
  }
  holder[last] = value;
}
