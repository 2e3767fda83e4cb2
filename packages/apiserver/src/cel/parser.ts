/** Reads an expression into a tree. Loops, has() and cel.bind() are recognised here, as the language has it. */
import type { Expr, MacroName } from './ast.ts';
import { CelCompileError, type CelIssue } from './errors.ts';
import { LexFault, type Token, tokenize } from './lexer.ts';

const deepest = 250;
const longest = 100_000;
/** Members in a row, such as `a.b.c`, become as deep a tree. */
const mostMembers = 1000;
const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const startsExpression =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

class ParseFault extends Error {
  readonly issue: CelIssue;

  constructor(at: number, message: string) {
    super(message);
    this.issue = { at, message };
  }
}

/** Throws a CelCompileError when the text is no expression. */
export function parse(source: string): Expr {
  if (source.length > longest)
    throw new CelCompileError('', [
      {
        at: 0,
        message: `expression code point size exceeds limit: size: ${source.length}, limit ${longest}`,
      },
    ]);
  try {
    return new Parser(tokenize(source)).expression();
  } catch (error) {
    if (error instanceof LexFault)
      throw new CelCompileError(source, [{ at: error.at, message: error.message }]);
    if (error instanceof ParseFault) throw new CelCompileError(source, [error.issue]);
    throw error;
  }
}

const relations = new Set(['<', '<=', '>', '>=', '==', '!=', 'in']);

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  expression(): Expr {
    const expr = this.#conditional();
    const rest = this.#peek();
    if (rest.kind !== 'end')
      throw new ParseFault(rest.at, `Syntax error: extraneous input '${rest.text}' expecting <EOF>`);
    return expr;
  }

  #peek(): Token {
    return this.#tokens[this.#next] as Token;
  }

  #take(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#next += 1;
    return token;
  }

  #takeIf(symbol: string): Token | undefined {
    const token = this.#peek();
    return token.kind === 'symbol' && token.text === symbol ? this.#take() : undefined;
  }

  #expect(symbol: string): Token {
    const token = this.#peek();
    const taken = this.#takeIf(symbol);
    if (taken) return taken;
    throw new ParseFault(token.at, `Syntax error: mismatched input '${token.text}' expecting '${symbol}'`);
  }

  #conditional(): Expr {
    this.#depth += 1;
    if (this.#depth > deepest)
      throw new ParseFault(this.#peek().at, `expression recursion limit exceeded: ${deepest}`);
    const condition = this.#or();
    const mark = this.#takeIf('?');
    let expr = condition;
    if (mark) {
      const yes = this.#or();
      this.#expect(':');
      expr = call('_?_:_', mark.at, [condition, yes, this.#conditional()]);
    }
    this.#depth -= 1;
    return expr;
  }

  #or(): Expr {
    return this.#leftToRight(['||'], () => this.#leftToRight(['&&'], () => this.#relation()));
  }

  #leftToRight(symbols: readonly string[], operand: () => Expr): Expr {
    let left = operand();
    for (let count = 0; ; count += 1) {
      if (count > mostMembers)
        throw new ParseFault(this.#peek().at, `expression recursion limit exceeded: ${mostMembers}`);
      const token = this.#peek();
      if (token.kind !== 'symbol' || !symbols.includes(token.text)) return left;
      this.#take();
      left = call(`_${token.text}_`, token.at, [left, operand()]);
    }
  }

  #relation(): Expr {
    const sum = (): Expr =>
      this.#leftToRight(['+', '-'], () => this.#leftToRight(['*', '/', '%'], () => this.#unary()));
    let left = sum();
    for (let count = 0; ; count += 1) {
      if (count > mostMembers)
        throw new ParseFault(this.#peek().at, `expression recursion limit exceeded: ${mostMembers}`);
      const token = this.#peek();
      if (token.kind !== 'symbol' || !relations.has(token.text)) return left;
      this.#take();
      const name = token.text === 'in' ? '@in' : `_${token.text}_`;
      left = call(name, token.at, [left, sum()]);
    }
  }

  #unary(): Expr {
    const token = this.#peek();
    if (token.kind === 'symbol' && (token.text === '!' || token.text === '-')) {
      let count = 0;
      while (this.#takeIf(token.text)) count += 1;
      const next = this.#peek();
      if (token.text === '-' && next.kind === 'literal' && count === 1) {
        if (typeof next.value === 'bigint' && !next.unsigned) {
          this.#take();
          return this.#members({ node: 'literal', value: -next.value, at: token.at });
        }
        if (typeof next.value === 'number') {
          this.#take();
          return this.#members({ node: 'literal', value: -next.value, at: token.at });
        }
      }
      const operand = this.#members(this.#primary());
      if (count % 2 === 0) return operand;
      return call(token.text === '!' ? '!_' : '-_', token.at, [operand]);
    }
    return this.#members(this.#primary());
  }

  #members(start: Expr): Expr {
    let expr = start;
    for (let count = 0; ; count += 1) {
      if (count > mostMembers)
        throw new ParseFault(this.#peek().at, `expression recursion limit exceeded: ${mostMembers}`);
      const dot = this.#takeIf('.');
      if (dot) {
        const optional = this.#takeIf('?') !== undefined;
        const name = this.#take();
        if (name.kind !== 'name')
          throw new ParseFault(
            name.at,
            `Syntax error: no viable alternative at input '.${optional ? '?' : ''}${name.text === '<EOF>' ? '' : name.text}'`,
          );
        const open = optional || name.quoted ? undefined : this.#takeIf('(');
        expr = open
          ? memberCall(expr, name.text, open.at, this.#arguments())
          : { node: 'select', operand: expr, field: name.text, test: false, optional, at: dot.at };
        continue;
      }
      const bracket = this.#takeIf('[');
      if (!bracket) return expr;
      const optional = this.#takeIf('?') !== undefined;
      const index = this.#conditional();
      this.#expect(']');
      expr = call(optional ? '_[?_]' : '_[_]', bracket.at, [expr, index]);
    }
  }

  #arguments(): Expr[] {
    const args: Expr[] = [];
    if (this.#takeIf(')')) return args;
    do args.push(this.#conditional());
    while (this.#takeIf(','));
    this.#expect(')');
    return args;
  }

  #primary(): Expr {
    const token = this.#take();
    if (token.kind === 'literal')
      return {
        node: 'literal',
        value: token.value ?? null,
        at: token.at,
        ...(token.unsigned ? { unsigned: true } : {}),
      };
    if (token.kind === 'name' && !token.quoted) return this.#nameOrCall(token);
    if (token.kind === 'symbol') {
      if (token.text === '(') {
        const expr = this.#conditional();
        this.#expect(')');
        return expr;
      }
      if (token.text === '[') return this.#list(token);
      if (token.text === '{') return this.#map(token);
      if (token.text === '.') {
        const name = this.#take();
        if (name.kind === 'name') return this.#nameOrCall(name);
      }
    }
    throw new ParseFault(
      token.at,
      `Syntax error: mismatched input '${token.text}' expecting ${startsExpression}`,
    );
  }

  #nameOrCall(token: Token): Expr {
    if (reserved.has(token.text)) throw new ParseFault(token.at, `reserved identifier: ${token.text}`);
    const open = this.#takeIf('(');
    if (!open) return { node: 'ident', name: token.text, at: token.at };
    const args = this.#arguments();
    const [only] = args;
    if (token.text === 'has' && args.length === 1 && only) {
      if (only.node !== 'select') throw new ParseFault(only.at, 'invalid argument to has() macro');
      return { ...only, test: true, at: open.at };
    }
    return call(token.text, open.at, args);
  }

  #list(open: Token): Expr {
    const items: { value: Expr; optional: boolean }[] = [];
    while (!this.#takeIf(']')) {
      const optional = this.#takeIf('?') !== undefined;
      items.push({ value: this.#conditional(), optional });
      if (this.#takeIf(',')) continue;
      this.#expect(']');
      break;
    }
    return { node: 'list', items, at: open.at };
  }

  #map(open: Token): Expr {
    const entries: { key: Expr; value: Expr; optional: boolean }[] = [];
    while (!this.#takeIf('}')) {
      const optional = this.#takeIf('?') !== undefined;
      const key = this.#conditional();
      this.#expect(':');
      entries.push({ key, value: this.#conditional(), optional });
      if (this.#takeIf(',')) continue;
      this.#expect('}');
      break;
    }
    return { node: 'map', entries, at: open.at };
  }
}

function call(name: string, at: number, args: readonly Expr[], target?: Expr): Expr {
  return { node: 'call', name, target, args, at };
}

/** How many arguments each loop takes; the last one is the body. */
const macros: Readonly<Record<string, readonly number[]>> = {
  all: [2, 3],
  exists: [2, 3],
  exists_one: [2, 3],
  existsOne: [2, 3],
  map: [2, 3],
  filter: [2],
  sortBy: [2],
  transformList: [3, 4],
  transformMap: [3, 4],
  transformMapEntry: [3, 4],
  optMap: [2],
  optFlatMap: [2],
};

function memberCall(target: Expr, name: string, at: number, args: readonly Expr[]): Expr {
  if (target.node === 'ident' && target.name === 'cel' && name === 'bind' && args.length === 3) {
    const [variable, value, body] = args as [Expr, Expr, Expr];
    if (variable.node !== 'ident')
      throw new ParseFault(variable.at, 'cel.bind() variable names must be simple identifiers');
    return { node: 'bind', name: variable.name, value, body, at };
  }
  if (!macros[name]?.includes(args.length)) return call(name, at, args, target);
  const body = args.at(-1) as Expr;
  const isFiltered = (name === 'map' && args.length === 3) || args.length === 4;
  const variableCount = args.length - (isFiltered ? 2 : 1);
  const variables = args.slice(0, variableCount).map((variable) => {
    if (variable.node !== 'ident') throw new ParseFault(variable.at, 'argument must be a simple name');
    return variable.name;
  });
  return {
    node: 'macro',
    name: (name === 'existsOne' ? 'exists_one' : name) as MacroName,
    range: target,
    variables,
    filter: isFiltered ? args.at(-2) : undefined,
    body,
    at,
  };
}
