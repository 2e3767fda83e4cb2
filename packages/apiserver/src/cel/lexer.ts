/** Turns an expression into tokens. Faults are thrown as a LexFault and reported with their position. */
import type { Constant } from './ast.ts';

export interface Token {
  readonly kind: 'name' | 'literal' | 'symbol' | 'end';
  readonly text: string;
  readonly at: number;
  readonly value?: Constant;
  readonly unsigned?: boolean;
  /** Written as `name` in backticks: a field name that is no identifier. */
  readonly quoted?: boolean;
}

export class LexFault extends Error {
  override readonly name = 'LexFault';
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const spaces = /(?:\s|\/\/[^\n]*)*/y;
const numbers =
  /0[xX][0-9a-fA-F]+[uU]?|\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?|\d+[uU]?/y;
const names = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const quotedNames = /`([_a-zA-Z0-9./ -]+)`/y;
const symbols = /==|!=|<=|>=|&&|\|\||[-+*/%!?:.,()[\]{}<>]/y;
const strings = /([rR][bB]?|[bB][rR]?)?("""|'''|"|')/y;

export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  for (;;) {
    at += match(spaces)?.[0].length ?? 0;
    if (at >= source.length) break;
    const string = match(strings);
    if (string) {
      const read = readString(source, at, string);
      tokens.push({ kind: 'literal', text: source.slice(at, read.end), at, value: read.value });
      at = read.end;
      continue;
    }
    const follows = tokens.at(-1);
    const number = match(numbers);
    // `a.0` is no number; `.5` after a name would be a field.
    if (number && !(number[0].startsWith('.') && follows?.kind === 'name')) {
      tokens.push(numberToken(number[0], at));
      at += number[0].length;
      continue;
    }
    const quoted = match(quotedNames);
    const name = quoted ?? match(names);
    const symbol = name ?? match(symbols);
    if (!symbol) throw new LexFault(`Syntax error: token recognition error at: '${source[at]}'`, at);
    if (quoted) tokens.push({ kind: 'name', text: quoted[1] ?? '', at, quoted: true });
    else if (name) tokens.push(nameToken(name[0], at));
    else tokens.push({ kind: 'symbol', text: symbol[0], at });
    at += symbol[0].length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: source.length });
  return tokens;
}

function nameToken(text: string, at: number): Token {
  if (text === 'true' || text === 'false') return { kind: 'literal', text, at, value: text === 'true' };
  if (text === 'null') return { kind: 'literal', text, at, value: null };
  if (text === 'in') return { kind: 'symbol', text, at };
  return { kind: 'name', text, at };
}

function numberToken(text: string, at: number): Token {
  if (/[uU]$/.test(text))
    return { kind: 'literal', text, at, value: BigInt(text.slice(0, -1)), unsigned: true };
  if (/^0[xX]/.test(text) || /^\d+$/.test(text)) {
    const value = BigInt(text);
    // One past the largest is allowed here: it may be the digits of the smallest.
    if (value > 1n << 63n) throw new LexFault('Syntax error: invalid int literal', at);
    return { kind: 'literal', text, at, value };
  }
  return { kind: 'literal', text, at, value: Number(text) };
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '`': '`',
  '?': '?',
};

function readString(
  source: string,
  start: number,
  opening: RegExpExecArray,
): { end: number; value: string | Uint8Array } {
  const prefix = (opening[1] ?? '').toLowerCase();
  const quote = opening[2] ?? '"';
  const isRaw = prefix.includes('r');
  const isBytes = prefix.includes('b');
  let at = start + opening[0].length;
  let text = '';
  const bytes: number[] = [];
  const add = (part: string): void => {
    if (isBytes) bytes.push(...new TextEncoder().encode(part));
    else text += part;
  };
  while (!source.startsWith(quote, at)) {
    if (at >= source.length || (quote.length === 1 && source[at] === '\n'))
      throw new LexFault(`Syntax error: token recognition error at: '${source.slice(start)}'`, start);
    if (source[at] !== '\\' || isRaw) {
      const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
      add(character);
      at += character.length;
      continue;
    }
    const escape =
      /\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))/y;
    escape.lastIndex = at;
    const found = escape.exec(source);
    if (!found) throw new LexFault('Syntax error: invalid escape sequence', at);
    const hex = found[1] ?? found[2] ?? found[3] ?? found[4];
    const code = hex === undefined ? found[5] && Number.parseInt(found[5], 8) : Number.parseInt(hex, 16);
    if (typeof code === 'number') {
      if (isBytes && found[3] === undefined && found[4] === undefined) bytes.push(code);
      else add(String.fromCodePoint(code));
    } else {
      const simple = simpleEscapes[found[6] ?? ''];
      if (simple === undefined) throw new LexFault('Syntax error: invalid escape sequence', at);
      add(simple);
    }
    at += found[0].length;
  }
  return { end: at + quote.length, value: isBytes ? Uint8Array.from(bytes) : text };
}
