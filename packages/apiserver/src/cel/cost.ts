/**
 * How much work an expression can be, from the sizes its schema allows. An upper bound in the units Kubernetes uses:
 * 1 for a step, a tenth for a character read. Sizes that are not bounded count as large as a request can be.
 */
import type { Call, Expr, Macro } from './ast.ts';
import type { CelType } from './types.ts';

const perCharacter = 0.1;
const unbounded = 2 ** 62;

/** The cost of evaluating the expression once, at most. */
export function estimateCost(expr: Expr): number {
  switch (expr.node) {
    case 'literal':
      return 0;
    case 'ident':
      return 1;
    case 'select':
      return estimateCost(expr.operand) + 1;
    case 'list':
      return 10 + total(expr.items.map(({ value }) => value));
    case 'map':
      return 30 + total(expr.entries.flatMap(({ key, value }) => [key, value]));
    case 'bind':
      return estimateCost(expr.value) + estimateCost(expr.body) + 10;
    case 'macro':
      return macroCost(expr);
    case 'call':
      return callCost(expr);
  }
}

function total(exprs: readonly Expr[]): number {
  return exprs.reduce((sum, expr) => sum + estimateCost(expr), 0);
}

/** Each turn costs the body and keeping the result; then the result is read. */
function macroCost(expr: Macro): number {
  const range = estimateCost(expr.range);
  if (expr.name === 'optMap' || expr.name === 'optFlatMap') return range + estimateCost(expr.body) + 3;
  const body = estimateCost(expr.body) + (expr.filter ? estimateCost(expr.filter) : 0);
  const perTurn: Record<Exclude<Macro['name'], 'optMap' | 'optFlatMap'>, number> = {
    all: 3,
    exists: 4,
    exists_one: 2,
    map: 12,
    filter: 13,
  };
  const start = expr.name === 'map' || expr.name === 'filter' ? 11 : 1;
  return range + start + sizeOf(expr.range) * (body + perTurn[expr.name]);
}

/** The most elements or bytes the value of an expression can have. */
function sizeOf(expr: Expr): number {
  if (expr.node === 'literal') return typeof expr.value === 'string' ? Buffer.byteLength(expr.value) : 1;
  if (expr.node === 'list') return expr.items.length;
  if (expr.node === 'map') return expr.entries.length;
  if (expr.node === 'call' && expr.name === '_+_')
    return expr.args.reduce((sum, arg) => sum + sizeOf(arg), 0);
  if (expr.node === 'call' && expr.target && keepsSize.has(expr.name)) return sizeOf(expr.target);
  return sizeOfType(expr.type);
}

const keepsSize = new Set(['lowerAscii', 'upperAscii', 'trim', 'reverse', 'substring', 'charAt', 'find']);

function sizeOfType(type: CelType | undefined): number {
  if (type === undefined) return unbounded;
  if (type.max !== undefined) return type.max;
  switch (type.kind) {
    case 'string':
    case 'bytes':
    case 'list':
    case 'map':
    case 'dyn':
    case 'param':
      return unbounded;
    case 'optional':
      return sizeOfType(type.of);
    default:
      return 1;
  }
}

function callCost(expr: Call): number {
  const { name, target, args } = expr;
  const [first, second] = args;
  const before = (target ? estimateCost(target) : 0) + total(args);
  switch (name) {
    case '_&&_':
    case '_||_':
      return before;
    case '_?_:_':
      return args[0] && args[1] && args[2]
        ? estimateCost(args[0]) + Math.max(estimateCost(args[1]), estimateCost(args[2]))
        : before;
    case '_==_':
    case '_!=_':
    case '_<_':
    case '_<=_':
    case '_>_':
    case '_>=_':
      if (!first || !second) return before + 1;
      return before + Math.max(1, Math.ceil(Math.min(sizeOf(first), sizeOf(second)) * perCharacter));
    case '@in':
      return before + (second?.type?.kind === 'list' ? sizeOf(second) : 1);
    case 'startsWith':
    case 'endsWith':
      return before + Math.ceil((first ? sizeOf(first) : 1) * perCharacter);
    case 'contains':
    case 'replace':
    case 'split':
      return before + readsOf(target) * readsOf(first);
    case 'matches':
    case 'find':
    case 'findAll':
      return (
        before +
        Math.ceil(((target ? sizeOf(target) : sizeOf(first as Expr)) + 1) * perCharacter) *
          Math.ceil(sizeOf((target ? first : second) ?? expr) * 0.25)
      );
    case '_+_':
      return before + (expr.type?.kind === 'string' ? Math.ceil(sizeOf(expr) * perCharacter) : 1);
    default:
      return before + (traversing.has(name) && target ? Math.max(1, readsOf(target)) : 1);
  }
}

const traversing = new Set([
  'lowerAscii',
  'upperAscii',
  'trim',
  'reverse',
  'substring',
  'indexOf',
  'lastIndexOf',
  'join',
  'format',
  'isSorted',
  'sum',
  'min',
  'max',
]);

function readsOf(expr: Expr | undefined): number {
  if (!expr) return 1;
  const factor = expr.type?.kind === 'list' ? 1 : perCharacter;
  return Math.ceil(sizeOf(expr) * factor);
}
