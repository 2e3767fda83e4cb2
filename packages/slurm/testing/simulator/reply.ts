/** What a simulated endpoint answers, before it becomes bytes. */
import type { Wire } from './wire-format.ts';

export interface Problem {
  readonly description: string;
  readonly error_number: number;
  readonly error: string;
  readonly source: string;
}

export interface Reply {
  readonly status: number;
  /** Fields of the JSON document beside errors, warnings and meta. */
  readonly fields?: Wire;
  /** A long list, already text, that comes first. */
  readonly list?: { readonly key: string; readonly elements: readonly Buffer[] };
  readonly errors?: readonly Problem[];
  readonly warnings?: readonly { readonly description: string; readonly source: string }[];
  /** Plain text instead of JSON. */
  readonly text?: string;
  /** How long it takes, beside what every answer takes. */
  readonly takesMs?: number;
}

export const good = (fields: Wire = {}, warnings: string[] = []): Reply => ({
  status: 200,
  fields,
  warnings: warnings.map((description) => ({ description, source: '' })),
});

export function bad(
  status: number,
  number: number,
  error: string,
  description = error,
  fields: Wire = {},
): Reply {
  return { status, fields, errors: [{ description, error_number: number, error, source: 'simulator' }] };
}

/** The bytes of a JSON reply, indented as slurmrestd does. */
export function replyBody(reply: Reply, meta: Wire): Buffer {
  const { list, fields = {}, errors = [], warnings = [] } = reply;
  const rest = JSON.stringify({ ...fields, meta, errors, warnings }, undefined, 2);
  if (list === undefined) return Buffer.from(rest);
  const head = Buffer.from(`{\n  ${JSON.stringify(list.key)}: [\n`);
  const comma = Buffer.from(',\n');
  const parts: Buffer[] = [head];
  list.elements.forEach((element, index) => {
    if (index > 0) parts.push(comma);
    parts.push(element);
  });
  parts.push(Buffer.from(`\n  ],${rest.slice(1)}`));
  return Buffer.concat(parts);
}
