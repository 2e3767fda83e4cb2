/** Fields inside nested JSON, by a path such as `per.user.jobs`. */

type Json = Readonly<Record<string, unknown>>;

export function at(root: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Json | undefined)?.[key], root);
}

export function put(root: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.split('.');
  let place = root;
  for (const key of keys.slice(0, -1)) place = (place[key] ??= {}) as Record<string, unknown>;
  place[keys.at(-1) ?? ''] = value;
}
