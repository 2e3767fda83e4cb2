/** Fields that the API server's schema does not have. Unlike a create, a server-side apply with one such field is refused. Pure. */

/** The paths that the refusal of an apply names, such as `.spec.template.spec.containers[name="login"].bogus`; none for other refusals. */
export function undeclaredFields(message: string): string[] {
  const path = /((?:\.[^\s.:[\]]+|\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\])+): field not declared in schema/g;
  return [...message.matchAll(path)].map(([, found = '']) => found);
}

/** The object without these fields. Paths that do not exist are ignored. */
export function withoutFields<T>(object: T, paths: readonly string[]): T {
  if (paths.length === 0) return object;
  const copy = structuredClone(object);
  for (const path of paths) {
    const steps = [...path.matchAll(/\.([^\s.:[\]]+)|\[((?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]/g)];
    const last = steps.pop()?.[1];
    let here: unknown = copy;
    for (const [, field, element] of steps)
      here = field === undefined ? elementOf(here, element) : at(here, field);
    if (last !== undefined && typeof here === 'object' && here !== null) Reflect.deleteProperty(here, last);
  }
  return copy;
}

const at = (here: unknown, field: string): unknown =>
  (here as Record<string, unknown> | null | undefined)?.[field];

/** `0`, or keys such as `name="login"` or `containerPort=22,protocol="TCP"`. */
function elementOf(list: unknown, text = ''): unknown {
  if (!Array.isArray(list)) return undefined;
  if (/^\d+$/.test(text)) return list[Number(text)];
  const keys = [...text.matchAll(/([A-Za-z]+)=("(?:[^"\\]|\\.)*"|[^,]+)/g)].map(
    ([, key = '', value = '']) => [key, JSON.parse(value) as unknown] as const,
  );
  return list.find((element) =>
    // The server adds defaults to the keys of an element, such as the protocol of a port.
    keys.every(([key, value]) => at(element, key) === undefined || at(element, key) === value),
  );
}
