/**
 * How much work an expression can be, from the sizes its schema allows: an upper bound in the units of Kubernetes, which
 * refuses definitions whose rules could cost too much. So this must neither under- nor overestimate.
 */
import type { Bind, Call, Expr, Macro, Select } from './ast.ts';
import { namespaced } from './checker.ts';
import { functionCost, type Sizes } from './function-cost.ts';
import {
  type EntrySize,
  eitherEntry,
  eitherSize,
  exactly,
  listCost,
  plus,
  type Size,
  times,
  unknownSize,
} from './size-estimate.ts';
import type { CelType } from './types.ts';

/** The cost of evaluating the expression once, at most. `root` is the type of `self`, whose sizes come from the schema. */
export function estimateCost(expr: Expr, root: CelType | undefined): number {
  return new Coster(root).cost(expr);
}

/** A way through the schema: the variable, then fields, `@items`, `@values` or `@keys`. */
type Path = readonly string[];

interface Local {
  readonly path: Path;
  readonly size: Size | undefined;
  readonly entry: EntrySize | undefined;
}

const mapCost = 30;

class Coster implements Sizes {
  readonly #root: CelType | undefined;
  readonly #paths = new Map<Expr, Path>();
  readonly #sizes = new Map<Expr, Size>();
  readonly #entries = new Map<Expr, EntrySize>();
  readonly #locals = new Map<string, Local[]>();

  constructor(root: CelType | undefined) {
    this.#root = root;
  }

  cost(expr: Expr): number {
    switch (expr.node) {
      case 'literal':
        return 0;
      case 'ident':
        this.#paths.set(expr, this.#local(expr.name)?.path ?? [expr.name]);
        return 1;
      case 'select':
        return this.#select(expr);
      case 'list':
        return this.#list(
          expr.items.map(({ value }) => value),
          expr,
        );
      case 'map':
        return this.#map(expr);
      case 'bind':
        return this.#bind(expr);
      case 'macro':
        return this.#macro(expr);
      case 'call':
        return this.#call(expr);
    }
  }

  of(expr: Expr): Size {
    return this.#sizeOf(expr) ?? unknownSize;
  }

  ofItems(list: Expr): Size {
    const path = this.#paths.get(list);
    return (path && this.#sizeAt([...path, '@items'])) ?? unknownSize;
  }

  #select(expr: Select): number {
    const operand = this.cost(expr.operand);
    if (expr.test) return operand;
    if (expr.optional) return plus(operand, 1);
    this.#paths.set(expr, [...this.#pathOf(expr.operand), expr.field]);
    const kind = expr.operand.type?.kind;
    return kind === 'map' || kind === 'object' || kind === 'param' ? plus(operand, 1) : operand;
  }

  #list(items: readonly Expr[], expr: Expr): number {
    let cost = listCost;
    let value: Size | undefined;
    for (const item of items) {
      cost = plus(cost, this.cost(item));
      value = value === undefined ? this.of(item) : eitherSize(value, this.of(item));
    }
    this.#entries.set(expr, { kind: 'list', key: exactly(1), value: value ?? exactly(0) });
    return cost;
  }

  #map(expr: Extract<Expr, { node: 'map' }>): number {
    let cost = mapCost;
    let key: Size | undefined;
    let value: Size | undefined;
    for (const entry of expr.entries) {
      cost = plus(cost, plus(this.cost(entry.key), this.cost(entry.value)));
      key = key === undefined ? this.of(entry.key) : eitherSize(key, this.of(entry.key));
      value = value === undefined ? this.of(entry.value) : eitherSize(value, this.of(entry.value));
    }
    this.#entries.set(expr, { kind: 'map', key: key ?? exactly(0), value: value ?? exactly(0) });
    return cost;
  }

  #bind(expr: Bind): number {
    const value = this.cost(expr.value);
    const local = {
      path: this.#pathOf(expr.value),
      size: this.#sizeOf(expr.value),
      entry: this.#entryOf(expr.value),
    };
    const body = this.#within([[expr.name, local]], () => this.cost(expr.body));
    this.#copySizes(expr.body, expr);
    return plus(listCost, plus(value, body));
  }

  #call(expr: Call): number {
    const isMethod = expr.target !== undefined && !namespaced.has(expr);
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const [first] = expr.args;
    if (expr.name === 'dyn' && first !== undefined && !isMethod) {
      this.#copySizes(first, expr);
      return plus(1, argCosts[0] ?? 0);
    }
    const target = isMethod && expr.target ? this.cost(expr.target) : 0;
    const { cost, size } = functionCost(expr, this, argCosts);
    let result = size;
    if (expr.name === '_[_]' && first !== undefined) {
      result = this.#entryOf(first)?.value;
      this.#paths.set(expr, [...this.#pathOf(first), first.type?.kind === 'map' ? '@values' : '@items']);
    }
    if (expr.name === '_?_:_' || expr.name === '_+_') {
      const [a, b] = expr.args.slice(-2);
      const entry = a && b && eitherEntry(this.#entryOf(a), this.#entryOf(b));
      if (entry) this.#entries.set(expr, entry);
    }
    result ??= this.#sizeOf(expr);
    if (result) this.#sizes.set(expr, result);
    return plus(target, cost);
  }

  /** What each turn of a loop costs beside its body: asking whether to go on, and keeping the result. */
  #macro(expr: Macro): number {
    const range = this.cost(expr.range);
    if (expr.name === 'optMap' || expr.name === 'optFlatMap') return this.#optional(expr, range);
    const rangeSize = this.of(expr.range);
    const bodies = this.#within(this.#loopVariables(expr), () => ({
      body: this.cost(expr.body),
      filter: expr.filter ? this.cost(expr.filter) : 0,
      value: this.of(expr.body),
      item: this.#sizeOfLocal(expr.variables[0] ?? '', expr.range.type),
    }));
    const { start, turn } = loopCosts[expr.name];
    if (quantifiers.has(expr.name)) this.#sizes.set(expr, exactly(1));
    else {
      const kept = expr.name === 'filter' || expr.name === 'sortBy' ? bodies.item : bodies.value;
      const kind = expr.name.startsWith('transformMap') ? 'map' : 'list';
      this.#sizes.set(expr, rangeSize);
      this.#entries.set(expr, { kind, key: exactly(1), value: eitherSize(exactly(0), kept) });
    }
    const perTurn = plus(plus(bodies.body, bodies.filter), turn);
    return plus(plus(range, start), times(rangeSize.max, perTurn));
  }

  /** `x.optMap(v, e)` asks whether there is a value, binds it, and wraps the result again. */
  #optional(expr: Macro, range: number): number {
    const local: Local = { path: [], size: undefined, entry: undefined };
    const body = this.#within([[expr.variables[0] ?? '', local]], () => this.cost(expr.body));
    const fixed = expr.name === 'optMap' ? 3 + listCost : 2 + listCost;
    return plus(plus(times(range, 2), body), fixed);
  }

  #loopVariables(expr: Macro): [string, Local][] {
    const [one = '', two] = expr.variables;
    const entry = this.#entryOf(expr.range);
    const kind = entry?.kind ?? expr.range.type?.kind;
    const path = this.#pathOf(expr.range);
    const local = (step: string, size: Size | undefined): Local => ({
      path: [...path, step],
      size,
      entry: undefined,
    });
    if (two === undefined)
      return [[one, kind === 'list' ? local('@items', entry?.value) : local('@keys', entry?.key)]];
    return [
      [one, local(kind === 'list' ? '@indices' : '@keys', entry?.key)],
      [two, local(kind === 'list' ? '@items' : '@values', entry?.value)],
    ];
  }

  #within<T>(locals: readonly (readonly [string, Local])[], run: () => T): T {
    for (const [name, local] of locals) this.#locals.set(name, [...(this.#locals.get(name) ?? []), local]);
    const result = run();
    for (const [name] of locals) this.#locals.get(name)?.pop();
    return result;
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #sizeOfLocal(name: string, range: CelType | undefined): Size {
    const local = this.#local(name);
    const item = range?.kind === 'list' ? range.item : range?.kind === 'map' ? range.key : undefined;
    const known = local && (this.#sizeAt(local.path) ?? (isScalar(item) ? exactly(1) : local.size));
    return known ?? unknownSize;
  }

  #pathOf(expr: Expr): Path {
    return this.#paths.get(expr) ?? [];
  }

  #entryOf(expr: Expr): EntrySize | undefined {
    const known = this.#entries.get(expr);
    return known ?? (expr.node === 'ident' ? this.#local(expr.name)?.entry : undefined);
  }

  #copySizes(from: Expr, to: Expr): void {
    const size = this.#sizeOf(from);
    if (size) this.#sizes.set(to, size);
    const entry = this.#entryOf(from);
    if (entry) this.#entries.set(to, entry);
  }

  /** What the expression says of its own size, then what the schema says, then what every value of the type has. */
  #sizeOf(expr: Expr): Size | undefined {
    const known = this.#sizes.get(expr) ?? literalSize(expr) ?? this.#sizeAt(this.#pathOf(expr));
    if (known) return known;
    if (isScalar(expr.type)) return exactly(1);
    return expr.node === 'ident' ? this.#local(expr.name)?.size : undefined;
  }

  /** The first step is a variable, and every variable is taken for `self`, as the real estimator does. */
  #sizeAt(path: Path): Size | undefined {
    if (path.length === 0 || this.#root === undefined) return undefined;
    let type: CelType | undefined = this.#root;
    for (const step of path.slice(1)) type = type && stepInto(type, step);
    return type && { min: 0, max: type.max ?? 0 };
  }
}

const loopCosts: Readonly<
  Record<Exclude<Macro['name'], 'optMap' | 'optFlatMap'>, { readonly start: number; readonly turn: number }>
> = {
  all: { start: 1, turn: 3 },
  exists: { start: 1, turn: 4 },
  exists_one: { start: 2, turn: 2 },
  map: { start: listCost + 1, turn: 12 },
  filter: { start: listCost + 1, turn: 13 },
  sortBy: { start: 2 * listCost + 1, turn: 13 },
  transformList: { start: listCost + 1, turn: 12 },
  transformMap: { start: mapCost + 1, turn: 3 },
  transformMapEntry: { start: mapCost + 1, turn: 2 },
};

/** Loops that answer yes or no. */
const quantifiers: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one']);

function stepInto(type: CelType, step: string): CelType | undefined {
  if (step === '@items' || step === '@values') {
    if (type.kind === 'list') return type.item;
    return type.kind === 'map' ? type.value : undefined;
  }
  if (step === '@keys') return type.kind === 'map' ? type.key : undefined;
  return type.kind === 'object' ? type.fields.get(step) : undefined;
}

function literalSize(expr: Expr): Size | undefined {
  if (expr.node === 'list') return exactly(expr.items.length);
  if (expr.node === 'map') return exactly(expr.entries.length);
  if (expr.node !== 'literal') return undefined;
  if (typeof expr.value === 'string') return exactly(Array.from(expr.value).length);
  return exactly(expr.value instanceof Uint8Array ? expr.value.length : 1);
}

const scalars = new Set<CelType['kind']>(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);

function isScalar(type: CelType | undefined): boolean {
  if (type === undefined) return false;
  return type.kind === 'optional' ? isScalar(type.of) : scalars.has(type.kind);
}
