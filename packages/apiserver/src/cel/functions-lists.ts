/** Functions that make a list of another one. */
import { CelRuntimeError } from './errors.ts';
import { type Overload, overload } from './signature.ts';
import { type CelValue, compareValues, equals, Optional } from './values.ts';

const sortable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

export const listFunctions: readonly Overload[] = [
  overload('list(A).slice(int, int) list(A)', (list: CelValue[], from: bigint, to: bigint) => {
    if (from < 0n || to < 0n)
      throw new CelRuntimeError(`cannot slice(${from}, ${to}), negative indexes not supported`);
    if (from > to)
      throw new CelRuntimeError(
        `cannot slice(${from}, ${to}), start index must be less than or equal to end index`,
      );
    if (to > list.length)
      throw new CelRuntimeError(`cannot slice(${from}, ${to}), list is length ${list.length}`);
    return list.slice(Number(from), Number(to));
  }),
  overload('list(list(A)).flatten() list(A)', (list: CelValue[]) => flatten(list, 1n)),
  overload('list(dyn).flatten(int) list(dyn)', (list: CelValue[], depth: bigint) => {
    if (depth < 0n) throw new CelRuntimeError('level must be non-negative');
    return flatten(list, depth);
  }),
  overload('lists.range(int) list(int)', (count: bigint) =>
    Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)),
  ),
  overload('list(A).distinct() list(A)', (list: CelValue[]) =>
    list.filter((item, index) => list.findIndex((other) => equals(other, item)) === index),
  ),
  overload('list(A).reverse() list(A)', (list: CelValue[]) => list.toReversed()),
  overload('list(A).first() optional(A)', (list: CelValue[]) => new Optional(list[0])),
  overload('list(A).last() optional(A)', (list: CelValue[]) => new Optional(list.at(-1))),
  ...sortable.map((type) =>
    overload(`list(${type}).sort() list(${type})`, (list: CelValue[]) => list.toSorted(compareValues)),
  ),
];

function flatten(list: readonly CelValue[], depth: bigint): CelValue[] {
  return list.flatMap((item) =>
    Array.isArray(item) && depth > 0n ? (depth === 1n ? item : flatten(item, depth - 1n)) : [item],
  );
}
