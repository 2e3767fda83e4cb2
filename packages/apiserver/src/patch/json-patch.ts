/** JSON patch (RFC 6902), with the leniencies that the API server shows. */
import { ApiError, badRequest } from '../api/errors.ts';
import { clone, equal, isObject } from '../api/json.ts';

/** JSON merge patch (RFC 7386): null removes, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return patch.map(withoutNulls);
  if (!isObject(patch)) return clone(patch);
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  for (const key of Object.keys(result)) if (!(key in patch)) result[key] = clone(result[key]);
  return result;
}

/** An item of a list is taken as it is, but for keys that are null. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return clone(value);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([key, item]) => [key, withoutNulls(item)]),
  );
}

type Container = Record<string, unknown> | unknown[];

/** Changes the document in place and returns it. */
export function applyJsonPatch(document: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw badRequest('a JSON patch is a list of operations');
  const root = { document };
  for (const operation of operations as unknown[]) applyOperation(root, operation);
  return root.document;
}

function refused(): ApiError {
  return new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {
    details: {},
  });
}

function applyOperation(root: { document: unknown }, operation: unknown): void {
  if (!isObject(operation)) throw refused();
  const { op, path, from, value } = operation;
  if (typeof path !== 'string') throw refused();
  switch (op) {
    case 'add':
      // An operation without a value adds null.
      add(root, path, clone(value ?? null));
      return;
    case 'remove':
      remove(root, path);
      return;
    case 'replace':
      if (Array.isArray(locate(root, path).container)) remove(root, path);
      add(root, path, clone(value ?? null));
      return;
    case 'move': {
      const moved = read(root, String(from));
      remove(root, String(from));
      add(root, path, moved);
      return;
    }
    case 'copy':
      add(root, path, clone(read(root, String(from))));
      return;
    case 'test':
      if (!equal(find(root, path), value) && !(value === null && find(root, path) === undefined))
        throw refused();
      return;
    default:
      throw refused();
  }
}

function locate(root: { document: unknown }, path: string): { container: Container; key: string } {
  const keys =
    path === ''
      ? ['']
      : path
          .split('/')
          .slice(1)
          .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  let container: unknown = path === '' ? root : root.document;
  if (path === '') return { container: root, key: 'document' };
  for (const key of keys.slice(0, -1)) {
    if (Array.isArray(container)) container = container[index(container, key, false)];
    else if (isObject(container)) container = container[key];
    if (typeof container !== 'object' || container === null) throw refused();
  }
  return { container: container as Container, key: keys.at(-1) ?? '' };
}

function index(list: readonly unknown[], key: string, adding: boolean): number {
  if (adding && key === '-') return list.length;
  const at = /^-?\d+$/.test(key) ? Number(key) : Number.NaN;
  if (Number.isNaN(at) || at < 0 || at > list.length - (adding ? 0 : 1)) throw refused();
  return at;
}

function add(root: { document: unknown }, path: string, value: unknown): void {
  const { container, key } = locate(root, path);
  if (Array.isArray(container)) container.splice(index(container, key, true), 0, value);
  else container[key] = value;
}

function remove(root: { document: unknown }, path: string): void {
  const { container, key } = locate(root, path);
  if (Array.isArray(container)) container.splice(index(container, key, false), 1);
  else {
    if (!(key in container)) throw refused();
    delete container[key];
  }
}

function find(root: { document: unknown }, path: string): unknown {
  const { container, key } = locate(root, path);
  return Array.isArray(container) ? container[index(container, key, false)] : container[key];
}

function read(root: { document: unknown }, path: string): unknown {
  const value = find(root, path);
  if (value === undefined) throw refused();
  return value;
}
