/** The reference pages: every field of every kind, its type, default, bounds and rules, from the schemas. */
import { reasons } from '../src/reasons.ts';
import { rootSchema } from '../src/schema/crd.ts';
import type { KindDefinition } from '../src/schema/kind.ts';
import { walk } from '../src/schema/paths.ts';
import type { StructuralSchema } from '../src/schema/structural.ts';
import { apiVersion } from '../src/well-known.ts';

const note = '<!-- Generated from packages/api by `make generate`. Do not edit. -->\n';

export function kindPage(definition: KindDefinition): string {
  const root = rootSchema(definition);
  const nodes = [...walk(root)].filter(({ path }) => !path.startsWith('status.conditions[]'));
  const rules = nodes.flatMap(({ path, schema }) =>
    (schema['x-kubernetes-validations'] ?? []).map(({ message }) => ({ path, message })),
  );
  const rows = (section: 'spec' | 'status') =>
    nodes
      .filter(({ path }) => path.startsWith(`${section}.`))
      .map(({ path, schema, required }) => row(path.slice(section.length + 1), schema, required))
      .join('\n');
  return `${note}
# ${definition.kind}

${definition.description}

\`${apiVersion}\`, namespaced. \`kubectl get ${[definition.plural, ...definition.shortNames.filter((name) => name !== definition.plural)].join('`, `kubectl get ')}\`${definition.scalable ? ', `kubectl scale`' : ''}.

## spec

| Field | Type | Default | Meaning |
|---|---|---|---|
${rows('spec')}

## status

| Field | Type | Default | Meaning |
|---|---|---|---|
${rows('status')}

Conditions and their reasons: [conditions.md](conditions.md).

## What is refused

${rules.map(({ path, message }) => `- ${path === '' ? 'the object' : `\`${path}\``}: ${escape(message)}.`).join('\n')}

## Columns of \`kubectl get\`

| Column | From | Meaning |
|---|---|---|
${definition.columns.map((column) => `| ${column.name}${column.priority === 1 ? ' (`-o wide`)' : ''} | \`${column.jsonPath}\` | ${column.description} |`).join('\n')}
`;
}

function row(path: string, schema: StructuralSchema, required: boolean): string {
  const standard =
    schema.default === undefined ? (required ? '**required**' : '') : `\`${JSON.stringify(schema.default)}\``;
  return `| \`${path}\` | ${typeName(schema)} | ${standard} | ${escape(schema.description ?? '')}${bounds(schema)} |`;
}

function typeName(schema: StructuralSchema): string {
  const nullable = schema.nullable ? ' or null' : '';
  if (schema['x-kubernetes-int-or-string']) return 'integer or text';
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(' \\| ');
  if (schema.format === 'date-time') return 'date and time';
  if (schema.type === 'string') return 'text';
  if (schema.type === 'array') return `list${nullable}`;
  if (schema.additionalProperties !== undefined) return `map${nullable}`;
  if (schema['x-kubernetes-preserve-unknown-fields']) return 'object of Kubernetes';
  return `${schema.type ?? 'anything'}${nullable}`;
}

function bounds(schema: StructuralSchema): string {
  const { minimum, maximum, maxLength, maxItems } = schema;
  const parts: string[] = [];
  if (minimum !== undefined && maximum !== undefined) parts.push(`${minimum} to ${maximum}`);
  else if (minimum !== undefined) parts.push(`at least ${minimum}`);
  if (maxLength !== undefined) parts.push(`at most ${maxLength} characters`);
  if (maxItems !== undefined) parts.push(`at most ${maxItems} items`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

const escape = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

export function conditionsPage(): string {
  const rows = Object.entries(reasons)
    .toSorted(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([reason, { meaning, advice }]) => `| \`${reason}\` | ${meaning} | ${advice} |`)
    .join('\n');
  return `${note}
# Conditions and their reasons

Every object of the group has these conditions, so that \`kubectl wait --for=condition=Ready\` works on all seven kinds:

| Condition | True means |
|---|---|
| \`Ready\` | The object does what its specification says. |
| \`Progressing\` | Something is on its way: a start, a rollout, a drain. |
| \`Degraded\` | Something is wrong that does not pass by itself, or has not passed for too long. |

Some kinds have more: Controller and Cluster have \`SlurmConnected\` (the operator speaks with its Slurm); Controller has \`ConfigApplied\`
(the configuration that is wanted is the one that runs); Accounting and Cluster have \`DatabaseReachable\`; NodeSet has
\`ReservationCreated\`; Controller, Accounting, LoginSet and NodeSet have \`KeysCurrent\` (every daemon has read the newest keys).

A condition's \`reason\` is one of these words; its \`message\` says it in a sentence about the object at hand.

| Reason | Meaning | What to do |
|---|---|---|
${rows}
`;
}

export function indexPage(kinds: readonly KindDefinition[]): string {
  return `${note}
# Reference

| Kind | What it is |
|---|---|
${kinds.map(({ kind, description }) => `| [${kind}](${kind.toLowerCase()}.md) | ${description} |`).join('\n')}

[Conditions and their reasons](conditions.md) are common to all kinds. \`kubectl explain <kind>.spec\` says the same as
these pages. A first look at the objects: [objects.md](../objects.md).
`;
}
