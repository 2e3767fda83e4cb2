/** Ranges of sizes, and arithmetic that saturates where 64 bits end. */

/** The fewest and most characters, bytes, items or entries a value can have. */
export interface Size {
  readonly min: number;
  readonly max: number;
}

/** Sizes of what a list or map holds, where the expression itself tells them. */
export interface EntrySize {
  readonly kind: 'list' | 'map';
  readonly key: Size;
  readonly value: Size;
}

/** What making a list costs, whatever is in it. */
export const listCost = 10;

/** Beyond this everything is equally too much. */
const most = 2 ** 64;

export const unknownSize: Size = { min: 0, max: most };

export function exactly(size: number): Size {
  return { min: size, max: size };
}

export function plus(a: number, b: number): number {
  return Math.min(a + b, most);
}

export function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : Math.min(a * b, most);
}

export function addSizes(a: Size, b: Size): Size {
  return { min: plus(a.min, b.min), max: plus(a.max, b.max) };
}

export function multiplySizes(a: Size, b: Size): Size {
  return { min: times(a.min, b.min), max: times(a.max, b.max) };
}

export function eitherSize(a: Size, b: Size): Size {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

export function eitherEntry(a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { kind: a.kind, key: eitherSize(a.key, b.key), value: eitherSize(a.value, b.value) };
}

/** The cost of reading that many units at so much each, rounded up. */
export function reading({ max }: Size, perUnit: number): number {
  return Math.min(Math.ceil(max * perUnit), most);
}
