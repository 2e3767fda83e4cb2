/** Columns of built-in kinds: a name, its help, and what stands in a row. */
import { type LabelSelector, selectorText } from '@slurm-operator/kubernetes-values';
import type { Json, KubeObject } from '../../api/types.ts';
import { descriptions } from '../../schema/generated/descriptions.ts';
import { ageOf } from './human-duration.ts';

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export interface Column {
  readonly definition: TableColumn;
  readonly cell: (object: KubeObject, now: number) => Json;
}

export interface ColumnOptions {
  readonly description?: string;
  /** Shown by `-o wide` only. */
  readonly wide?: boolean;
  readonly type?: string;
  readonly format?: string;
}

export function column(
  name: string,
  cell: (object: KubeObject, now: number) => Json,
  { description = '', wide = false, type = 'string', format = '' }: ColumnOptions = {},
): Column {
  return { definition: { name, type, format, description, priority: wide ? 1 : 0 }, cell };
}

export const nameColumn: Column = column('Name', ({ metadata }) => metadata.name ?? '', {
  format: 'name',
  description: descriptions['V1ObjectMeta.name'],
});

export const ageColumn: Column = column(
  'Age',
  ({ metadata }, now) => ageOf(metadata.creationTimestamp, now),
  {
    description: descriptions['V1ObjectMeta.creationTimestamp'],
  },
);

export const createdAtColumn: Column = column(
  'Created At',
  ({ metadata }) => metadata.creationTimestamp ?? '',
  {
    type: 'date',
    description: descriptions['V1ObjectMeta.creationTimestamp'],
  },
);

/** A value inside an object, read with care: stored objects may lack anything. */
export function at(object: unknown, ...path: readonly string[]): unknown {
  let value = object;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

export function textAt(object: unknown, ...path: readonly string[]): string {
  const value = at(object, ...path);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}

export function numberAt(object: unknown, ...path: readonly string[]): number {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : 0;
}

export function listAt(object: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = at(object, ...path);
  return Array.isArray(value) ? value : [];
}

export function countAt(object: unknown, ...path: readonly string[]): number {
  const value = at(object, ...path);
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

export function orNone(text: string): string {
  return text === '' ? '<none>' : text;
}

/** A selector or a map of labels as `a=b,c in (d,e)`. */
export function selectorColumn(selector: unknown): string {
  const isStructured =
    at(selector, 'matchLabels') !== undefined || at(selector, 'matchExpressions') !== undefined;
  return orNone(selectorText((isStructured ? selector : { matchLabels: selector ?? {} }) as LabelSelector));
}
