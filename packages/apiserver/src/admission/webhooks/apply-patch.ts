/** The JSON patch of a mutating webhook, step by step, so that a failing step can be named. */
import { ApiError, internalError } from '../../api/errors.ts';
import { isObject } from '../../api/json.ts';
import { applyJsonPatch } from '../../patch/json-patch.ts';

export function applyWebhookPatch<T>(object: T, operations: unknown): T {
  if (!Array.isArray(operations)) throw internalError('a patch of a webhook is a list of operations');
  let changed: unknown = object;
  for (const operation of operations as unknown[]) {
    try {
      changed = applyJsonPatch(changed, [operation]);
    } catch (error) {
      if (error instanceof ApiError) throw internalError(describe(operation), error);
      throw error;
    }
  }
  return changed as T;
}

function describe(operation: unknown): string {
  const { op, path } = isObject(operation) ? operation : { op: undefined, path: undefined };
  const at = typeof path === 'string' ? path : '';
  const key = at.split('/').at(-1) ?? '';
  switch (op) {
    case 'remove':
      return `error in remove for path: '${at}': Unable to remove nonexistent key: ${key}: missing value`;
    case 'test':
      return `testing value ${at} failed: test failed`;
    case 'add':
    case 'replace':
    case 'move':
    case 'copy':
      return `${op} operation does not apply: doc is missing path: "${at}": missing value`;
    default:
      return `Unexpected kind: ${String(op)}`;
  }
}
