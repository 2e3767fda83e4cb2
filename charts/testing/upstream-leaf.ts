/**
 * Every value of upstream's charts (`testdata/upstream`), set to something else than its default, and the field of the object that it
 * means. Rows without `with` are rendered together; a row with it needs other values beside it and is rendered alone.
 */
import type { Any } from './chart-stage.ts';

export interface Leaf {
  /** A value, or the map that holds it. */
  readonly path: string;
  readonly value: unknown;
  /** `Kind field.of.it` or `Kind/name field`. Undefined where it must only be accepted. */
  readonly means: string | undefined;
  /** What the field is then, or holds. @default value */
  readonly is?: unknown;
  readonly with?: object;
}

export type Row = readonly [
  path: string,
  value: unknown,
  means: string | undefined,
  is?: unknown,
  also?: object,
];

export const row = ([path, value, means, is, also]: Row): Leaf => ({
  path,
  value,
  means,
  ...(is === undefined ? {} : { is }),
  ...(also === undefined ? {} : { with: also }),
});

/** Keys that hold dots of their own. */
const dotted =
  /(kubernetes\.io\/os|slinky\.slurm\.net\/[a-z-]+|(?<=stringData\.)sssd\.conf|gres\.conf|(?:pro|epi)log\S*-a\.sh)/g;

export const stepsOf = (path: string): string[] =>
  path
    .replaceAll(dotted, (key) => key.replaceAll('.', '\0'))
    .split('.')
    .map((step) => step.replaceAll('\0', '.'));

/** `values` with `value` at a path. */
export const withValue = (values: Any, path: string, value: unknown): Any =>
  setAt(values, stepsOf(path), value);

function setAt(values: Any, [first = '', ...rest]: readonly string[], value: unknown): Any {
  return { ...values, [first]: rest.length === 0 ? value : setAt(values?.[first] ?? {}, rest, value) };
}
