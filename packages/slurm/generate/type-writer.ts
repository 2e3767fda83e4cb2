/**
 * Turns OpenAPI schemas into TypeScript declarations.
 *
 * Old slurmrestd versions inline every schema at every use (1.2 MB for one version), so an object that occurs more than
 * once is declared once and named after the first place it was seen at. Descriptions are left out: they triple the size
 * and the model in `src/model` explains the fields that matter.
 */
import type { Schema } from './open-api.ts';

export class TypeWriter {
  readonly #seen = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #declarations = new Map<string, string>();
  readonly #prefix: string;

  constructor(prefix: string, all: readonly Schema[]) {
    this.#prefix = prefix;
    for (const schema of all) this.#count(schema);
  }

  /** Declares a schema of the document's own list under its own name. */
  declare(key: string, schema: Schema): void {
    const name = this.#nameOf(key);
    this.#taken.add(name);
    this.#declarations.set(name, this.#body(schema, name));
  }

  /** Keeps a name for a schema that will be declared later. */
  reserve(key: string): void {
    this.#taken.add(this.#nameOf(key));
  }

  /** The type expression of a schema; `hint` names it if it has to be declared. */
  type(schema: Schema | undefined, hint: string): string {
    if (schema === undefined) return 'undefined';
    if (schema.$ref !== undefined) return this.#nameOf(schema.$ref.split('/').at(-1) ?? '');
    if (schema.properties === undefined) return this.#body(schema, hint);
    const key = canonical(schema);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    if ((this.#seen.get(key) ?? 0) < 2) return this.#body(schema, hint);
    const name = this.#freshName(isNumberWithFlags(schema) ? `number_${numberFormat(schema)}` : hint);
    this.#names.set(key, name);
    this.#declarations.set(name, this.#body(schema, name));
    return name;
  }

  declarations(): string {
    return [...this.#declarations]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, body]) =>
        body.startsWith('{') ? `export interface ${name} ${body}\n` : `export type ${name} = ${body};\n`,
      )
      .join('\n');
  }

  #body(schema: Schema, hint: string): string {
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    const choices = schema.oneOf ?? schema.anyOf;
    if (choices !== undefined) return choices.map((choice) => this.type(choice, hint)).join(' | ');
    if (schema.properties !== undefined) {
      const required = new Set(schema.required);
      const fields = Object.entries(schema.properties).map(([key, field]) => {
        const optional = required.has(key) ? '' : '?';
        return `readonly ${propertyName(key)}${optional}: ${this.type(field, `${hint}_${key}`)};`;
      });
      return `{\n${indent(fields.join('\n'))}\n}`;
    }
    switch (schema.type) {
      case 'array':
        return `readonly (${this.type(schema.items, `${hint}_item`)})[]`;
      case 'object': {
        const extra = schema.additionalProperties;
        return `Readonly<Record<string, ${typeof extra === 'object' ? this.type(extra, hint) : 'unknown'}>>`;
      }
      case 'integer':
      case 'number':
        return 'number';
      case 'boolean':
        return 'boolean';
      case 'string':
        return 'string';
      default:
        return 'unknown';
    }
  }

  #count(schema: Schema): void {
    if (schema.properties !== undefined) {
      const key = canonical(schema);
      const times = (this.#seen.get(key) ?? 0) + 1;
      this.#seen.set(key, times);
      if (times > 1) return; // its inside was counted the first time
    }
    for (const part of [
      ...Object.values(schema.properties ?? {}),
      ...(schema.items ? [schema.items] : []),
      ...(schema.oneOf ?? []),
      ...(schema.anyOf ?? []),
      ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
    ])
      this.#count(part);
  }

  #nameOf(key: string): string {
    return pascal(key.startsWith(this.#prefix) ? key.slice(this.#prefix.length) : key);
  }

  #freshName(hint: string): string {
    const name = pascal(hint);
    let fresh = name;
    for (let turn = 2; this.#taken.has(fresh); turn += 1) fresh = `${name}${turn}`;
    this.#taken.add(fresh);
    return fresh;
  }
}

/** Equal for schemas that describe the same shape, whatever their prose says. */
function canonical(schema: Schema): string {
  return JSON.stringify(schema, (key, value: unknown) =>
    key === 'description' && typeof value === 'string' ? undefined : value,
  );
}

function isNumberWithFlags(schema: Schema): boolean {
  return (
    Object.keys(schema.properties ?? {})
      .toSorted()
      .join() === 'infinite,number,set'
  );
}

function numberFormat(schema: Schema): string {
  return schema.properties?.['number']?.format ?? 'plain';
}

export function propertyName(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

function pascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}
