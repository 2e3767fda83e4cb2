/** A page of docs/how-to as a user follows it: its blocks in their order, with the few edits that this cluster needs. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments, stringify } from 'yaml';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { name: string };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

/** The blocks of a page in one language, as they stand there. */
export function blocks(page: string, language: 'yaml' | 'sh' | 'console'): string[] {
  const text = readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), 'utf8');
  return [...text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^\\1\`\`\``, 'gms'))].map((match) =>
    (match[2] ?? '').replaceAll(new RegExp(`^${match[1] ?? ''}`, 'gm'), ''),
  );
}

/** The objects of the n-th block of YAML, each edited by the function for its kind. */
export function manifests(
  page: string,
  block: number,
  edits: Readonly<Record<string, (object: Manifest) => unknown>> = {},
): string {
  const text = blocks(page, 'yaml')[block];
  if (text === undefined) throw new Error(`docs/${page}.md has no block of YAML with the number ${block}`);
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const kinds = new Set(objects.map(({ kind }) => kind));
  for (const kind of Object.keys(edits))
    if (!kinds.has(kind)) throw new Error(`docs/${page}.md, block ${block}: there is no ${kind} to edit`);
  for (const object of objects) edits[object.kind]?.(object);
  return objects.map((object) => stringify(object, { version: '1.1' })).join('---\n');
}
