/** The reference pages: every field of every kind, its type, default, bounds and rules, from the schemas. */
import { reasons } from '../src/reasons.ts';
import { rootSchema } from '../src/schema/crd.ts';
import type { KindDefinition } from '../src/schema/kind.ts';
import { walk } from '../src/schema/paths.ts';
import type { StructuralSchema } from '../src/schema/structural.ts';
import { apiVersion } from '../src/well-known.ts';
import { reasonRow } from './reasons-page.ts';

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

## Validation rules

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
  if (schema['x-kubernetes-int-or-string']) return 'integer or string';
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(' \\| ');
  if (schema.format === 'date-time') return 'time (RFC 3339)';
  if (schema.type === 'string') return 'string';
  if (schema.type === 'array') return `list${nullable}`;
  if (schema.additionalProperties !== undefined) return `map${nullable}`;
  if (schema['x-kubernetes-preserve-unknown-fields']) return 'Kubernetes object';
  return `${schema.type ?? 'any'}${nullable}`;
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
    .map(([reason, text]) => reasonRow(reason, text, '../'))
    .join('\n');
  return `${note}
# Conditions and their reasons

Every object of the group has these conditions, so that \`kubectl wait --for=condition=Ready\` works for every kind:

| Condition | True means |
|---|---|
| \`Ready\` | The object matches its specification. |
| \`Progressing\` | A start, a rollout or a drain is in progress. |
| \`Degraded\` | A problem needs attention, or has lasted too long. |

Some kinds have more: Controller and Cluster have \`SlurmConnected\` (the operator is connected to Slurm); Controller has \`ConfigApplied\`
(slurmctld uses the desired configuration); Accounting and Cluster have \`DatabaseReachable\`; NodeSet has
\`ReservationCreated\`; Controller, Accounting, LoginSet and NodeSet have \`KeysCurrent\` (every daemon uses the newest keys).

The \`reason\` of a condition is one of these words; its \`message\` explains it for this object.

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

[Conditions and their reasons](conditions.md) are common to all kinds. \`kubectl explain <kind>.spec\` prints the same
texts. [kubectl slurm](kubectl-slurm.md) lists the commands of the plugin, [rules of doctor](doctor.md) what it diagnoses. For an introduction to the objects see [objects.md](../objects.md).
`;
}
