/** Manifests from a file or standard input, as objects. */
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { CliError } from '../errors.ts';
import type { Session } from '../session/session.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export async function readManifests(session: Session, file: string): Promise<readonly Manifest[]> {
  const what = file === '-' ? 'standard input' : file;
  const text =
    file === '-'
      ? await session.io.readStdin()
      : await readFile(file, 'utf8').catch((cause: unknown) => {
          throw new CliError(`${file} cannot be read.`, { cause });
        });
  const documents = parseAllDocuments(text);
  const list = 'empty' in documents ? [] : documents;
  for (const { errors } of list) {
    const [error] = errors;
    if (error !== undefined)
      throw new CliError(`${what} is not YAML: ${error.message.split('\n', 1)[0] ?? ''}`);
  }
  const objects = list
    .map((document) => document.toJS() as unknown)
    .flatMap((value) => (isList(value) ? value.items : [value]))
    .filter((value) => value !== null && value !== undefined);
  if (objects.length === 0) throw new CliError(`There is no object in ${what}.`);
  return objects.map((value, index) => {
    if (!isManifest(value))
      throw new CliError(`Object ${index + 1} in ${what} lacks apiVersion, kind or metadata.name.`);
    return value;
  });
}

const isList = (value: unknown): value is { readonly items: readonly unknown[] } =>
  typeof value === 'object' &&
  value !== null &&
  'items' in value &&
  Array.isArray(value.items) &&
  'kind' in value &&
  String(value.kind).endsWith('List');

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null) return false;
  const { apiVersion, kind, metadata } = value as Partial<Manifest>;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
}
