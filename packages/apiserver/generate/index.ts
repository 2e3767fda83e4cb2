/**
 * Writes the table of built-in types that `src/schema` turns into schemas: for each type its fields, their types
 * and which are required. The source is the model metadata of the pinned @kubernetes/client-node (release 1.36).
 * What that metadata lacks (list types, merge keys, quantities) is our own table, `src/schema/merge-rules.ts`.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtinKinds } from '../src/schema/builtin-kinds.ts';

interface Attribute {
  readonly baseName: string;
  readonly type: string;
  readonly format: string;
}

type Model = { readonly attributeTypeMap?: readonly Attribute[] };

const entry = fileURLToPath(import.meta.resolve('@kubernetes/client-node'));
const models = join(dirname(entry), 'gen', 'models');

export async function generate(): Promise<ReadonlyMap<string, string>> {
  const types = new Map<string, readonly string[]>();
  const waiting = builtinKinds.map((kind) => kind.type);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (types.has(name)) continue;
    const module = (await import(join(models, `${name}.js`))) as Record<string, Model>;
    const attributes = module[name]?.attributeTypeMap ?? [];
    const required = requiredFields(name);
    types.set(
      name,
      attributes.map(
        (attribute) =>
          `${attribute.baseName}${required.has(attribute.baseName) ? '!' : ''}:${shortType(attribute)}`,
      ),
    );
    for (const attribute of attributes) {
      const referred = /[A-Za-z]*V\d\w+/.exec(attribute.type)?.[0];
      if (referred !== undefined && referred !== 'V1MicroTime') waiting.push(referred);
    }
  }
  const lines = [...types]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, fields]) => `  ${name}: ${JSON.stringify(fields.join(' '))},`);
  const content = [
    '// Written by `make generate` from the model metadata of @kubernetes/client-node. Do not edit.',
    'export const builtinTypes: Readonly<Record<string, string>> = {',
    ...lines,
    '};',
    '',
  ].join('\n');
  return new Map([
    ['packages/apiserver/src/schema/generated/builtin-types.ts', content],
    ['packages/apiserver/src/schema/generated/descriptions.ts', descriptions()],
  ]);
}

/** Fields whose description clients see: as the help of a table's column, or in the schema of every custom resource. */
const described = [
  'V1ObjectMeta.name',
  'V1ObjectMeta.creationTimestamp',
  'V1ConfigMap.data',
  'V1Pod.apiVersion',
  'V1Pod.kind',
  'V1PodStatus.podIP',
  'V1PodStatus.nominatedNodeName',
  'V1PodSpec.nodeName',
  'V1PodSpec.readinessGates',
];

function descriptions(): string {
  const lines = described.map((path) => `  '${path}': ${JSON.stringify(describe(path))},`);
  return [
    '// Written by `make generate` from the model metadata of @kubernetes/client-node. Do not edit.',
    'export const descriptions = {',
    ...lines,
    '} as const;',
    '',
  ].join('\n');
}

/** The comment above a field in the declarations. Its paragraphs were joined by two spaces there. */
function describe(path: string): string {
  const [type = '', field = ''] = path.split('.');
  const lines = readFileSync(join(models, `${type}.d.ts`), 'utf8').split('\n');
  const at = lines.findIndex((line) => line.startsWith(`    '${field}'`));
  return (lines[at - 2] ?? '')
    .replace(/^\s*\* /, '')
    .replaceAll('.  ', '.\n\n')
    .replaceAll(/\\(['"])/g, '$1');
}

/** Required fields are only in the declarations: `'port': number` is required, `'name'?: string` is not. */
function requiredFields(name: string): Set<string> {
  const declaration = readFileSync(join(models, `${name}.d.ts`), 'utf8');
  return new Set([...declaration.matchAll(/^ {4}'([^']+)': /gm)].map((match) => wireName(match[1] ?? '')));
}

/** Names that are reserved words in TypeScript are declared with an underscore in front. */
function wireName(name: string): string {
  return name.startsWith('_') ? name.slice(1) : name;
}

function shortType({ type, format }: Attribute): string {
  const list = /^Array<(.+)>$/.exec(type);
  if (list) return `[]${shortType({ baseName: '', type: list[1] ?? '', format })}`;
  const map = /^\{ \[key: string\]: (.+); \}$/.exec(type);
  if (map) return `{}${shortType({ baseName: '', type: map[1] ?? '', format })}`;
  if (type === 'V1MicroTime' || format === 'date-time-micro') return 'date-time-micro';
  if (type === 'Date') return 'date-time';
  if (type === 'number') return format === '' ? 'double' : format;
  if (type === 'string') return format === '' ? 'string' : format;
  if (type === 'IntOrString') return 'int-or-string';
  return type;
}
