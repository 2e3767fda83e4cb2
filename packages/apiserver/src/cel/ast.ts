/** The syntax tree of an expression. `at` is the offset that messages point to: the operator, bracket or name. */
import type { CelType } from './types.ts';

interface Base {
  readonly at: number;
  /** Set by the checker. */
  type?: CelType;
}

export type Constant = null | boolean | bigint | number | string | Uint8Array;

export interface Literal extends Base {
  readonly node: 'literal';
  readonly value: Constant;
  /** An unsigned literal such as 1u. */
  readonly unsigned?: boolean;
}

export interface Ident extends Base {
  readonly node: 'ident';
  readonly name: string;
}

export interface Select extends Base {
  readonly node: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** `has(a.b)` asks whether the field is there. */
  readonly test: boolean;
  /** `a.?b` gives an optional. */
  readonly optional: boolean;
}

export interface Call extends Base {
  readonly node: 'call';
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
  /** Set by the checker: which overload applies. */
  overload?: string;
}

export interface ListExpr extends Base {
  readonly node: 'list';
  readonly items: readonly { readonly value: Expr; readonly optional: boolean }[];
}

export interface MapExpr extends Base {
  readonly node: 'map';
  readonly entries: readonly { readonly key: Expr; readonly value: Expr; readonly optional: boolean }[];
}

export type MacroName =
  | 'all'
  | 'exists'
  | 'exists_one'
  | 'map'
  | 'filter'
  | 'sortBy'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry'
  | 'optMap'
  | 'optFlatMap';

/** A loop over a list or map: `list.all(x, p)`, with two variables `all(i, v, p)`; those that make a list or map may have a filter first. */
export interface Macro extends Base {
  readonly node: 'macro';
  readonly name: MacroName;
  readonly range: Expr;
  readonly variables: readonly string[];
  readonly filter: Expr | undefined;
  readonly body: Expr;
}

/** `cel.bind(name, value, body)` */
export interface Bind extends Base {
  readonly node: 'bind';
  readonly name: string;
  readonly value: Expr;
  readonly body: Expr;
}

export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | Macro | Bind;
