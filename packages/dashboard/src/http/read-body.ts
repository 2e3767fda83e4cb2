/** Reads the body of a write: bounded, JSON, an object. */
import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly kind: 'read'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'refused'; readonly status: number; readonly why: string };

const mostBytes = 1_000_000;

export async function readJsonBody(request: IncomingMessage): Promise<Body> {
  const refused = (status: number, why: string): Body => ({ kind: 'refused', status, why });
  if (Number(request.headers['content-length'] ?? 0) > mostBytes)
    return refused(413, `A request has at most ${mostBytes / 1_000_000} MB.`);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > mostBytes) return refused(413, `A request has at most ${mostBytes / 1_000_000} MB.`);
    chunks.push(chunk as Buffer);
  }
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return refused(400, 'The body is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused(400, 'The body must be a JSON object.');
  return { kind: 'read', value: value as Readonly<Record<string, unknown>> };
}
