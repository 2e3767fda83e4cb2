/** Turns a checked tree into a function. Errors are CelRuntimeErrors; `&&`, `||` and loops absorb them as CEL says. */
import type { Call, Expr, Macro, Select } from './ast.ts';
import { chosen, namespaced } from './checker.ts';
import { CelRuntimeError } from './errors.ts';
import type { Overload } from './signature.ts';
import type { CelType } from './types.ts';
import { type CelValue, compareValues, mapGet, Optional, TypeValue, typeName, Uint } from './values.ts';

export type Frame = Map<string, CelValue>;
export type Evaluate = (frame: Frame) => CelValue;

/** Turns of loops one run may take. Runs are synchronous, so one counter serves them all. */
const mostTurns = 1_000_000;
let turns = 0;

/** Runs a compiled expression; one that loops too long is ended with an error instead of holding up everyone. */
export function runBounded(evaluate: Evaluate, frame: Frame): CelValue {
  turns = 0;
  return evaluate(frame);
}

function countTurn(): void {
  turns += 1;
  if (turns > mostTurns) throw new CelRuntimeError('operation cancelled: actual cost limit exceeded');
}

export function compileExpr(expr: Expr): Evaluate {
  switch (expr.node) {
    case 'literal': {
      const value: CelValue =
        expr.unsigned && typeof expr.value === 'bigint' ? new Uint(expr.value) : expr.value;
      return () => value;
    }
    case 'ident':
      return (frame) => {
        const value = frame.get(expr.name);
        if (value !== undefined) return value;
        if (expr.type?.kind === 'type') return new TypeValue(expr.name);
        throw new CelRuntimeError(`no such attribute(s): ${expr.name}`);
      };
    case 'select':
      return compileSelect(expr);
    case 'call':
      return compileCall(expr);
    case 'list': {
      const items = expr.items.map((item) => ({ read: compileExpr(item.value), optional: item.optional }));
      return (frame) => {
        const list: CelValue[] = [];
        for (const { read, optional } of items) {
          const value = read(frame);
          if (!optional) list.push(value);
          else if (value instanceof Optional && value.value !== undefined) list.push(value.value);
        }
        return list;
      };
    }
    case 'map': {
      const entries = expr.entries.map(({ key, value, optional }) => ({
        key: compileExpr(key),
        value: compileExpr(value),
        optional,
      }));
      return (frame) => {
        const map = new Map<CelValue, CelValue>();
        for (const { key, value, optional } of entries) {
          const item = value(frame);
          if (!optional) map.set(key(frame), item);
          else if (item instanceof Optional && item.value !== undefined) map.set(key(frame), item.value);
        }
        return map;
      };
    }
    case 'macro':
      return compileMacro(expr);
    case 'bind': {
      const value = compileExpr(expr.value);
      const body = compileExpr(expr.body);
      return (frame) => body(new Map(frame).set(expr.name, value(frame)));
    }
  }
}

function compileSelect({ operand, field, test, optional }: Select): Evaluate {
  const read = compileExpr(operand);
  return (frame) => {
    const of = read(frame);
    const holder = of instanceof Optional ? of.value : of;
    if (holder === undefined) return test ? false : new Optional(undefined);
    if (!(holder instanceof Map)) throw new CelRuntimeError('no such overload');
    const value = holder.get(field);
    if (test) return value !== undefined;
    if (optional || of instanceof Optional) return new Optional(value);
    if (value === undefined) throw new CelRuntimeError(`no such key: ${field}`);
    return value;
  };
}

function compileCall(expr: Call): Evaluate {
  const [first, second, third] = expr.args.map(compileExpr) as [Evaluate, Evaluate, Evaluate];
  switch (expr.name) {
    case '_&&_':
      return shortCircuit(first, second, false);
    case '_||_':
      return shortCircuit(first, second, true);
    case '_?_:_':
      return (frame) => (truth(first(frame)) ? second(frame) : third(frame));
    case '_[_]':
      return (frame) => index(first(frame), second(frame));
    default:
  }
  const overloads = chosen.get(expr) ?? [];
  const target = namespaced.has(expr) ? undefined : expr.target;
  const args = [...(target ? [target] : []), ...expr.args].map(compileExpr);
  const [only] = overloads;
  if (overloads.length === 1 && only && !expr.args.some(isUncertain) && !(target && isUncertain(target)))
    return (frame) => only.run(...argumentsOf(args.map((arg) => arg(frame))));
  return (frame) => {
    const values = args.map((arg) => arg(frame));
    const fitting = overloads.find((each) => fits(each, values));
    if (!fitting)
      throw new CelRuntimeError(`no such overload: ${expr.name}(${values.map(typeName).join(', ')})`);
    return fitting.run(...argumentsOf(values));
  };
}

function isUncertain(expr: Expr): boolean {
  return expr.type === undefined || expr.type.kind === 'dyn';
}

function fits(each: Overload, values: readonly CelValue[]): boolean {
  const params = each.receiver ? [each.receiver, ...each.params] : each.params;
  return params.every((param, position) => isOf(param, values[position] as CelValue));
}

function isOf(type: CelType, value: CelValue): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
    case 'object':
      return true;
    case 'list':
      return Array.isArray(value) && value.every((item) => isOf(type.item, item));
    case 'map':
      return value instanceof Map;
    case 'optional':
      return value instanceof Optional;
    case 'opaque':
      return typeName(value) === type.name;
    case 'null':
      return value === null;
    case 'duration':
      return typeName(value) === 'google.protobuf.Duration';
    case 'timestamp':
      return typeName(value) === 'google.protobuf.Timestamp';
    default:
      return typeName(value) === type.kind;
  }
}

function truth(value: CelValue): boolean {
  if (typeof value === 'boolean') return value;
  throw new CelRuntimeError('no such overload');
}

/** The deciding value on either side wins even when the other side fails. */
function shortCircuit(left: Evaluate, right: Evaluate, decisive: boolean): Evaluate {
  return (frame) => {
    let failure: CelRuntimeError | undefined;
    try {
      if (truth(left(frame)) === decisive) return decisive;
    } catch (error) {
      if (!(error instanceof CelRuntimeError)) throw error;
      failure = error;
    }
    if (truth(right(frame)) === decisive) return decisive;
    if (failure) throw failure;
    return !decisive;
  };
}

function index(container: CelValue, key: CelValue): CelValue {
  if (container instanceof Optional)
    return container.value === undefined ? container : new Optional(at(container.value, key));
  const value = at(container, key);
  if (value !== undefined) return value;
  if (Array.isArray(container)) throw new CelRuntimeError(`index out of bounds: ${showKey(key)}`);
  throw new CelRuntimeError(`no such key: ${showKey(key)}`);
}

function showKey(key: CelValue): string {
  if (key instanceof Uint) return key.value.toString();
  return typeof key === 'object' ? typeName(key) : String(key);
}

function at(container: CelValue, key: CelValue): CelValue | undefined {
  if (Array.isArray(container)) {
    const position = key instanceof Uint ? key.value : key;
    if (typeof position !== 'bigint' && typeof position !== 'number')
      throw new CelRuntimeError('no such overload');
    return container[Number(position)];
  }
  if (container instanceof Map) return mapGet(container, key);
  throw new CelRuntimeError('no such overload');
}

function compileMacro(expr: Macro): Evaluate {
  const range = compileExpr(expr.range);
  const body = compileExpr(expr.body);
  const filter = expr.filter && compileExpr(expr.filter);
  const [one = '', two] = expr.variables;
  if (expr.name === 'optMap' || expr.name === 'optFlatMap')
    return (frame) => {
      const value = range(frame);
      if (!(value instanceof Optional)) throw new CelRuntimeError('no such overload');
      if (value.value === undefined) return value;
      const mapped = body(new Map(frame).set(one, value.value));
      return expr.name === 'optMap' ? new Optional(mapped) : mapped;
    };
  const frames = function* (frame: Frame): Generator<[Frame, CelValue]> {
    const over = range(frame);
    const inner = new Map(frame);
    for (const [key, value] of entriesOf(over)) {
      countTurn();
      if (two === undefined) inner.set(one, over instanceof Map ? key : value);
      else inner.set(one, key).set(two, value);
      yield [inner, over instanceof Map ? key : value];
    }
  };
  switch (expr.name) {
    case 'all':
      return (frame) => quantify(frames(frame), body, false);
    case 'exists':
      return (frame) => quantify(frames(frame), body, true);
    case 'exists_one':
      return (frame) => {
        let count = 0;
        for (const [inner] of frames(frame)) if (truth(body(inner))) count += 1;
        return count === 1;
      };
    case 'filter':
      return (frame) => {
        const kept: CelValue[] = [];
        for (const [inner, item] of frames(frame)) if (truth(body(inner))) kept.push(item);
        return kept;
      };
    case 'map':
    case 'transformList':
      return (frame) => {
        const mapped: CelValue[] = [];
        for (const [inner] of frames(frame)) if (!filter || truth(filter(inner))) mapped.push(body(inner));
        return mapped;
      };
    case 'transformMap':
    case 'transformMapEntry':
      return (frame) => {
        const made = new Map<CelValue, CelValue>();
        for (const [inner] of frames(frame)) {
          if (filter && !truth(filter(inner))) continue;
          const value = body(inner);
          if (expr.name === 'transformMap') made.set(inner.get(one) as CelValue, value);
          else for (const entry of entriesOf(value)) insert(made, ...entry);
        }
        return made;
      };
    case 'sortBy':
      return (frame) => {
        const keyed: [CelValue, CelValue][] = [];
        for (const [inner, item] of frames(frame)) keyed.push([body(inner), item]);
        return keyed.toSorted(([a], [b]) => compareValues(a, b)).map(([, item]) => item);
      };
  }
}

/** Keys of maps are texts, numbers and truth values. */
function keyText(key: CelValue): string {
  return typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean'
    ? `${key}`
    : typeName(key);
}

function insert(map: Map<CelValue, CelValue>, key: CelValue, value: CelValue): void {
  if (mapGet(map, key) !== undefined)
    throw new CelRuntimeError(`insert failed: key ${keyText(key)} already exists`);
  map.set(key, value);
}

function entriesOf(over: CelValue): Iterable<[CelValue, CelValue]> {
  if (over instanceof Map) return over.entries();
  if (Array.isArray(over))
    return over.map((item, position) => [BigInt(position), item] as [CelValue, CelValue]);
  throw new CelRuntimeError('no such overload');
}

function quantify(frames: Iterable<[Frame, CelValue]>, body: Evaluate, decisive: boolean): boolean {
  let failure: CelRuntimeError | undefined;
  for (const [frame] of frames) {
    try {
      if (truth(body(frame)) === decisive) return decisive;
    } catch (error) {
      if (!(error instanceof CelRuntimeError)) throw error;
      failure ??= error;
    }
  }
  if (failure) throw failure;
  return !decisive;
}

/** The type checker has matched the arguments to the overload, so its parameters fit; their type is that of no single value. */
const argumentsOf = (values: readonly CelValue[]): never[] => values as never[];
