/** Continue tokens: where the next page begins, and of which state. The real server's own form. */
import { badRequest } from '../api/errors.ts';
import { duplicateKeys, JsonSyntaxError } from '../api/json-scan.ts';

export interface ContinueToken {
  /** -1: the newest state, whatever came between. */
  readonly revision: number;
  /** The key of the last object that was sent. */
  readonly after: string;
}

export function writeContinueToken({ revision, after }: ContinueToken): string {
  const token = JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${after}\0` });
  return Buffer.from(token).toString('base64url');
}

export function readContinueToken(text: string): ContinueToken {
  const refused = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  // One character per byte, as the real server complains about bytes.
  const json = Buffer.from(text, 'base64url').toString('latin1');
  try {
    duplicateKeys(json);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw refused(error.message);
    throw error;
  }
  const { v, rv, start } = JSON.parse(json) as { v?: unknown; rv?: unknown; start?: unknown };
  if (v !== 'meta.k8s.io/v1')
    throw refused(`server does not recognize this encoded version ${JSON.stringify(v)}`);
  if (typeof rv !== 'number' || typeof start !== 'string' || start === '')
    throw refused('incorrect encoded start resourceVersion');
  return { revision: rv, after: start.replace(/\0$/, '') };
}
