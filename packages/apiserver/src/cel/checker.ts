/** Gives every node its type and chooses overloads; what does not fit is an issue. */
import type { Call, Expr, Macro, Select } from './ast.ts';
import type { CelIssue } from './errors.ts';
import { isNamespace, overloadsOf } from './library.ts';
import type { Overload } from './signature.ts';
import {
  assignable,
  bool,
  bytes,
  type CelType,
  double,
  dyn,
  int,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  showType,
  string,
  substitute,
  uint,
} from './types.ts';

export type Scope = ReadonlyMap<string, CelType>;

/** Overloads that may apply to a call; several when types are only known at run time. */
export const chosen = new WeakMap<Call, readonly Overload[]>();

/** Calls of a namespaced function, such as `sets.contains(a, b)`, whose receiver is only part of the name. */
export const namespaced = new WeakSet<Call>();

export function check(root: Expr, scope: Scope): { type: CelType; issues: CelIssue[] } {
  const issues: CelIssue[] = [];
  const type = new Checker(issues).check(root, scope);
  return { type, issues };
}

class Checker {
  readonly #issues: CelIssue[];

  constructor(issues: CelIssue[]) {
    this.#issues = issues;
  }

  check(expr: Expr, scope: Scope): CelType {
    expr.type = this.#typeOf(expr, scope);
    return expr.type;
  }

  #fail(at: number, message: string): CelType {
    this.#issues.push({ at, message });
    return dyn;
  }

  #typeOf(expr: Expr, scope: Scope): CelType {
    switch (expr.node) {
      case 'literal':
        return literalType(expr.value, expr.unsigned === true);
      case 'ident': {
        const known = scope.get(expr.name) ?? typeNames.get(expr.name);
        return known ?? this.#fail(expr.at, `undeclared reference to '${expr.name}' (in container '')`);
      }
      case 'select':
        return this.#select(expr, scope);
      case 'call':
        return this.#call(expr, scope);
      case 'list':
        return listOf(
          join(
            expr.items.map(({ value, optional }) => {
              const type = this.check(value, scope);
              return optional && type.kind === 'optional' ? type.of : type;
            }),
          ),
          expr.items.length,
        );
      case 'map': {
        const keys = expr.entries.map(({ key }) => this.check(key, scope));
        const values = expr.entries.map(({ value, optional }) => {
          const type = this.check(value, scope);
          return optional && type.kind === 'optional' ? type.of : type;
        });
        return mapOf(join(keys), join(values), expr.entries.length);
      }
      case 'macro':
        return this.#macro(expr, scope);
      case 'bind': {
        const value = this.check(expr.value, scope);
        return this.check(expr.body, new Map(scope).set(expr.name, value));
      }
    }
  }

  #select(expr: Select, scope: Scope): CelType {
    const operand = this.check(expr.operand, scope);
    const inner = operand.kind === 'optional' ? operand.of : operand;
    const found = this.#field(expr, inner);
    if (expr.test) return bool;
    return expr.optional || operand.kind === 'optional' ? optionalOf(found) : found;
  }

  #field(expr: Select, type: CelType): CelType {
    switch (type.kind) {
      case 'object':
        return type.fields.get(expr.field) ?? this.#fail(expr.at, `undefined field '${expr.field}'`);
      case 'map':
        return type.value;
      case 'dyn':
        return dyn;
      default:
        return this.#fail(expr.at, `type '${showType(type)}' does not support field selection`);
    }
  }

  #call(expr: Call, scope: Scope): CelType {
    if (expr.name === '_&&_' || expr.name === '_||_' || expr.name === '_?_:_')
      return this.#logic(expr, scope);
    if (expr.name === '_[_]') return this.#index(expr, scope);
    const { target } = expr;
    if (target?.node === 'ident' && isNamespace(target.name) && !scope.has(target.name)) {
      const full = overloadsOf(`${target.name}.${expr.name}`, false);
      if (full.length > 0) {
        namespaced.add(expr);
        return this.#resolve(
          expr,
          full,
          expr.args.map((arg) => this.check(arg, scope)),
        );
      }
    }
    const given = [...(target ? [target] : []), ...expr.args].map((arg) => this.check(arg, scope));
    const candidates = overloadsOf(expr.name, target !== undefined);
    if (candidates.length === 0 && overloadsOf(expr.name, target === undefined).length === 0)
      return this.#fail(expr.at, `undeclared reference to '${expr.name}' (in container '')`);
    return this.#resolve(expr, candidates, given);
  }

  #resolve(expr: Call, candidates: readonly Overload[], given: readonly CelType[]): CelType {
    const fitting: Overload[] = [];
    const results: CelType[] = [];
    for (const candidate of candidates) {
      const params = candidate.receiver ? [candidate.receiver, ...candidate.params] : candidate.params;
      if (params.length !== given.length) continue;
      const bindings = new Map<string, CelType>();
      if (!params.every((param, index) => assignable(param, given[index] ?? dyn, bindings))) continue;
      fitting.push(candidate);
      results.push(substitute(candidate.result, bindings));
    }
    if (fitting.length === 0) {
      const shown =
        expr.target && !namespaced.has(expr)
          ? `${showType(given[0] ?? dyn)}.(${given.slice(1).map(showType).join(', ')})`
          : `(${given.map(showType).join(', ')})`;
      const name =
        namespaced.has(expr) && expr.target?.node === 'ident'
          ? `${expr.target.name}.${expr.name}`
          : expr.name;
      return this.#fail(expr.at, `found no matching overload for '${name}' applied to '${shown}'`);
    }
    chosen.set(expr, fitting);
    return join(results);
  }

  #logic(expr: Call, scope: Scope): CelType {
    const types = expr.args.map((arg) => this.check(arg, scope));
    const [condition, yes, no] = types as [CelType, CelType, CelType];
    const fits = (type: CelType): boolean => assignable(bool, type, new Map());
    const mismatch = (): CelType =>
      this.#fail(
        expr.at,
        `found no matching overload for '${expr.name}' applied to '(${types.map(showType).join(', ')})'`,
      );
    if (expr.name !== '_?_:_') return types.every(fits) ? bool : mismatch();
    const same = assignable(yes, no, new Map()) || assignable(no, yes, new Map());
    return fits(condition) && same ? join([yes, no]) : mismatch();
  }

  #index(expr: Call, scope: Scope): CelType {
    const [container = dyn, index = dyn] = expr.args.map((arg) => this.check(arg, scope));
    const inner = container.kind === 'optional' ? container.of : container;
    const found = ((): CelType | undefined => {
      if (inner.kind === 'dyn') return dyn;
      if (inner.kind === 'list' && assignable(int, index, new Map())) return inner.item;
      if (inner.kind === 'map' && assignable(inner.key, index, new Map())) return inner.value;
      return undefined;
    })();
    if (found) return container.kind === 'optional' ? optionalOf(found) : found;
    return this.#fail(
      expr.at,
      `found no matching overload for '_[_]' applied to '(${showType(container)}, ${showType(index)})'`,
    );
  }

  #macro(expr: Macro, scope: Scope): CelType {
    const range = this.check(expr.range, scope);
    const inner = new Map(scope);
    if (expr.name === 'optMap' || expr.name === 'optFlatMap') {
      if (range.kind !== 'optional' && range.kind !== 'dyn')
        return this.#fail(expr.at, `type '${showType(range)}' is not an optional`);
      inner.set(expr.variables[0] ?? '', range.kind === 'optional' ? range.of : dyn);
      const body = this.check(expr.body, inner);
      return expr.name === 'optMap' ? optionalOf(body) : body;
    }
    const [first, second] = elementTypes(range);
    if (first === undefined)
      return this.#fail(
        expr.range.at,
        `expression of type '${showType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
      );
    const [one = '', two] = expr.variables;
    if (two === undefined) inner.set(one, first);
    else inner.set(one, range.kind === 'map' ? first : int).set(two, second ?? first);
    if (expr.filter) this.#mustBeBool(expr.filter, inner);
    const made = this.#loopResult(expr, range, inner);
    if (made) return made;
    this.#mustBeBool(expr.body, inner);
    return expr.name === 'filter' ? listOf(first, range.max) : bool;
  }

  /** Of a loop that makes something new of what it goes over. */
  #loopResult(expr: Macro, range: CelType, scope: Scope): CelType | undefined {
    const key = range.kind === 'map' ? range.key : int;
    switch (expr.name) {
      case 'map':
      case 'transformList':
        return listOf(this.check(expr.body, scope), range.max);
      case 'transformMap':
        return mapOf(key, this.check(expr.body, scope), range.max);
      case 'transformMapEntry': {
        const entry = this.check(expr.body, scope);
        if (entry.kind === 'map' || entry.kind === 'dyn')
          return entry.kind === 'map' ? mapOf(entry.key, entry.value, range.max) : entry;
        return this.#fail(expr.body.at, `expected type 'map(dyn, dyn)' but found '${showType(entry)}'`);
      }
      case 'sortBy':
        this.check(expr.body, scope);
        return range;
      default:
        return undefined;
    }
  }

  #mustBeBool(expr: Expr, scope: Scope): void {
    const type = this.check(expr, scope);
    if (!assignable(bool, type, new Map()))
      this.#fail(expr.at, `expected type 'bool' but found '${showType(type)}'`);
  }
}

const typeNames: Scope = new Map<string, CelType>(
  ['int', 'uint', 'double', 'bool', 'string', 'bytes', 'list', 'map', 'null_type', 'type'].map((name) => [
    name,
    { kind: 'type' },
  ]),
);

/** What a loop's variables stand for: items of a list, keys (and values) of a map. */
function elementTypes(range: CelType): [CelType | undefined, CelType?] {
  switch (range.kind) {
    case 'list':
      return [range.item];
    case 'map':
      return [range.key, range.value];
    case 'dyn':
      return [dyn];
    default:
      return [undefined];
  }
}

function literalType(value: unknown, unsigned: boolean): CelType {
  if (value === null) return nullType;
  switch (typeof value) {
    case 'boolean':
      return bool;
    case 'bigint':
      return unsigned ? uint : int;
    case 'number':
      return double;
    case 'string':
      return { ...string, max: Buffer.byteLength(value) };
    default:
      return bytes;
  }
}

/** One type for all, or dyn where they differ. */
function join(types: readonly CelType[]): CelType {
  const [first, ...rest] = types;
  if (first === undefined) return dyn;
  const fits = (a: CelType, b: CelType): boolean => assignable(a, b, new Map());
  if (!rest.every((type) => fits(first, type) && type.kind !== 'dyn')) return dyn;
  const sizes = types.map((type) => type.max);
  if (sizes.every((size) => size !== undefined)) return { ...first, max: Math.max(...sizes) };
  const { max: _, ...unsized } = first;
  return rest.length === 0 ? first : unsized;
}
