/**
 * What one call costs at most, beside its arguments, and how large its result can be: 1 for most, a tenth per character
 * for what reads text. The figures are those of Kubernetes, because they decide which definitions it accepts.
 */
import type { Call, Expr } from './ast.ts';
import { chosen, namespaced } from './checker.ts';
import {
  addSizes,
  eitherSize,
  exactly,
  listCost,
  multiplySizes,
  plus,
  reading,
  type Size,
  times,
  unknownSize,
} from './size-estimate.ts';
import type { CelType } from './types.ts';

const perCharacter = 0.1;
const perPatternCharacter = 0.25;
/** The longest expression behind a named format. */
const longestFormat = 128;

export interface CallCost {
  readonly cost: number;
  readonly size?: Size;
}

export interface Sizes {
  of(expr: Expr): Size;
  /** Of the items of a list, where the schema tells it. */
  ofItems(list: Expr): Size;
}

type Estimate = (call: Call, sizes: Sizes) => CallCost | undefined;

const traverse: Estimate = ({ target }, sizes) => {
  if (target === undefined) return undefined;
  const size = sizes.of(target);
  return { cost: reading(size, perCharacter), size };
};

const traverseItems: Estimate = ({ target }, sizes) => {
  if (target === undefined) return undefined;
  const item = itemType(target.type);
  if (item === undefined) return { cost: reading(sizes.of(target), perCharacter) };
  const isText = item.kind === 'string' || item.kind === 'bytes';
  const each = isText ? plus(1, reading(sizes.ofItems(target), perCharacter)) : 1;
  return { cost: times(sizes.of(target).max, each) };
};

const matchPattern: Estimate = ({ target, args: [pattern] }, sizes) => {
  if (target === undefined || pattern === undefined) return undefined;
  const text = reading(addSizes(sizes.of(target), exactly(1)), perCharacter);
  return { cost: times(text, reading(sizes.of(pattern), perPatternCharacter)) };
};

const findPattern: Estimate = (call, sizes) => {
  const matched = matchPattern(call, sizes);
  return matched && call.target && { ...matched, size: { min: 0, max: sizes.of(call.target).max } };
};

const readFirst: Estimate = ({ args: [first] }, sizes) =>
  first && { cost: reading(sizes.of(first), perCharacter) };

function compareSets(factor: number): Estimate {
  return ({ args: [a, b] }, sizes) =>
    a && b && { cost: plus(1, reading(multiplySizes(sizes.of(a), sizes.of(b)), factor)) };
}

const compareText: Estimate = ({ args: [a, b] }, sizes) =>
  a &&
  b && {
    cost: reading({ min: 0, max: Math.min(sizes.of(a).max, sizes.of(b).max) }, perCharacter),
  };

/** Numbers and times are compared in one step, text is read. */
const order: Estimate = (call, sizes) =>
  takes(call, 'string', 'bytes') ? compareText(call, sizes) : undefined;

/** A new list, and so many looks at the items of the old one. */
function newList(looks: (items: number) => number): Estimate {
  return ({ target, args: [first] }, sizes) => {
    const from = target ?? first;
    if (from === undefined || from.type?.kind === 'string') return undefined;
    const literal = target === undefined && first?.node === 'literal' ? Number(first.value) : undefined;
    const size =
      target === undefined ? (literal === undefined ? unknownSize : exactly(literal)) : sizes.of(from);
    return { cost: plus(listCost + 1, looks(size.max)), size: { min: 0, max: size.max } };
  };
}

const each = newList((items) => items);
const eachWithEach = newList((items) => times(items, items));

const estimates: Readonly<Record<string, Estimate>> = {
  slice: each,
  flatten: each,
  reverse: each,
  'lists.range': each,
  distinct: eachWithEach,
  sort: eachWithEach,
  isSorted: traverseItems,
  sum: traverseItems,
  max: traverseItems,
  min: traverseItems,
  indexOf: traverseItems,
  lastIndexOf: traverseItems,
  lowerAscii: traverse,
  upperAscii: traverse,
  substring: traverse,
  trim: traverse,
  url: ({ args: [text] }, sizes) =>
    text && { cost: reading(sizes.of(text), perCharacter), size: sizes.of(text) },
  replace: replaceCost,
  split: ({ target, args: [, limit] }, sizes) => {
    if (target === undefined) return undefined;
    const size = sizes.of(target);
    const most = limit?.node === 'literal' && typeof limit.value === 'bigint' ? limit.value : undefined;
    const max = most === undefined || most < 0n ? size.max : Number(most);
    return { cost: reading(size, 2 * perCharacter), size: { min: 0, max } };
  },
  join: joinCost,
  find: findPattern,
  findAll: findPattern,
  matches: matchPattern,
  validate: ({ target, args: [text] }, sizes) =>
    target &&
    text && {
      cost: Math.ceil(reading(sizes.of(text), perCharacter) * longestFormat * perPatternCharacter),
    },
  containsIP: ({ target, args: [text] }, sizes) =>
    target &&
    text && { cost: plus(4, text.type?.kind === 'string' ? reading(sizes.of(text), perCharacter) : 0) },
  containsCIDR: ({ target, args: [text] }, sizes) =>
    target &&
    text && { cost: plus(7, text.type?.kind === 'string' ? reading(sizes.of(text), perCharacter) : 0) },
  format: ({ target }, sizes) => target && { cost: reading(sizes.of(target), perCharacter) },
  'strings.quote': ({ args: [text] }, sizes) => {
    if (text === undefined) return undefined;
    const size = sizes.of(text);
    return {
      cost: reading(size, perCharacter),
      size: { min: size.min + 2, max: plus(times(size.max, 2), 2) },
    };
  },
  bytes: ({ args: [text] }, sizes) => {
    if (text?.type?.kind !== 'string') return undefined;
    const size = sizes.of(text);
    return { cost: reading(size, perCharacter), size: { min: size.min, max: times(size.max, 4) } };
  },
  string: ({ args: [bytes] }, sizes) => {
    if (bytes?.type?.kind !== 'bytes') return undefined;
    const size = sizes.of(bytes);
    return { cost: reading(size, perCharacter), size: { min: Math.floor(size.min / 4), max: size.max } };
  },
  startsWith: readFirst,
  endsWith: readFirst,
  contains: ({ target, args: [part] }, sizes) =>
    target &&
    part && {
      cost: times(reading(sizes.of(target), perCharacter), reading(sizes.of(part), perCharacter)),
    },
  'sets.contains': compareSets(1),
  'sets.intersects': compareSets(1),
  'sets.equivalent': compareSets(2),
  '@in': (call, sizes) => {
    const [, container] = call.args;
    return container && container.type?.kind !== 'map' ? { cost: sizes.of(container).max } : undefined;
  },
  '_+_': (call, sizes) => {
    const [a, b] = call.args;
    if (!a || !b) return undefined;
    const size = addSizes(sizes.of(a), sizes.of(b));
    if (takes(call, 'string', 'bytes')) return { cost: reading(size, perCharacter), size };
    return takes(call, 'list') ? { cost: 1, size } : undefined;
  },
  '_==_': (call, sizes) => (call.args[0]?.type?.kind === 'opaque' ? undefined : compareText(call, sizes)),
  '_!=_': compareText,
  '_<_': order,
  '_<=_': order,
  '_>_': order,
  '_>=_': order,
};

/** The cost with that of the arguments; the receiver of a method is not among them. */
export function functionCost(call: Call, sizes: Sizes, argCosts: readonly number[]): CallCost {
  const [first = 0, second = 0, third = 0] = argCosts;
  switch (call.name) {
    case '_&&_':
    case '_||_':
      return { cost: plus(first, second) };
    case '_?_:_': {
      const [, yes, no] = call.args;
      const cost = plus(first, Math.max(second, third));
      return yes && no ? { cost, size: eitherSize(sizes.of(yes), sizes.of(no)) } : { cost };
    }
    default: {
      const isNamespaced = namespaced.has(call) && call.target?.node === 'ident';
      const name =
        isNamespaced && call.target?.node === 'ident' ? `${call.target.name}.${call.name}` : call.name;
      const found = estimates[name]?.(isNamespaced ? { ...call, target: undefined } : call, sizes);
      const args = argCosts.reduce(plus, 0);
      return found ? { ...found, cost: plus(found.cost, args) } : { cost: plus(1, args) };
    }
  }
}

/** Whether an overload that may apply takes a value of such a type first. */
function takes(call: Call, ...kinds: readonly CelType['kind'][]): boolean {
  return (
    chosen.get(call)?.some(({ params: [param] }) => param !== undefined && kinds.includes(param.kind)) ===
    true
  );
}

function itemType(type: CelType | undefined): CelType | undefined {
  if (type?.kind === 'list') return type.item;
  if (type?.kind === 'map') return type.key;
  return type?.kind === 'optional' ? type.of : undefined;
}

/** Replacing can make text longer: by one replacement per smallest part that can be found. */
function replaceCost({ target, args: [part, by] }: Call, sizes: Sizes): CallCost | undefined {
  if (!target || !part || !by) return undefined;
  const text = sizes.of(target);
  const cost = reading(text, 2 * perCharacter);
  const shortest = sizes.of(part).min;
  const longest = sizes.of(by).max;
  if (shortest === 0)
    return { cost, size: { min: 0, max: plus(times(plus(text.max, 1), longest), text.max) } };
  if (longest <= shortest) return { cost, size: { min: 0, max: text.max } };
  return { cost, size: { min: 0, max: times(Math.ceil(text.max / shortest), longest) } };
}

function joinCost({ target, args: [by] }: Call, sizes: Sizes): CallCost | undefined {
  if (!target) return undefined;
  const list = sizes.of(target);
  const texts = itemType(target.type) === undefined ? exactly(0) : multiplySizes(list, sizes.ofItems(target));
  const between = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) };
  const size = by === undefined ? texts : addSizes(texts, multiplySizes(sizes.of(by), between));
  return { cost: reading(size, perCharacter), size };
}
