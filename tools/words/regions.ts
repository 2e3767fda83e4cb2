/** Splits TypeScript into code, comments and strings. A small lexer: it knows quotes, templates, comments and regular expressions. */

export interface Region {
  readonly kind: 'code' | 'comment' | 'string';
  readonly start: number;
  readonly end: number;
}

/** Strings and comments of a source, in order; everything between them is code. */
export function regionsOf(source: string): Region[] {
  const regions: Region[] = [];
  /** Depth of braces inside each open `${`; the innermost is last. */
  const templates: number[] = [];
  let position = 0;
  /** The last character of code that is not white space: it decides whether a slash divides. */
  let previous = '';
  const add = (kind: Region['kind'], end: number) => {
    regions.push({ kind, start: position, end });
    position = end;
  };
  while (position < source.length) {
    const character = source[position] ?? '';
    const pair = source.slice(position, position + 2);
    if (pair === '//') add('comment', endOf(source, '\n', position));
    else if (pair === '/*') add('comment', endOf(source, '*/', position) + 2);
    else if (character === "'" || character === '"') {
      add('string', quoteEnd(source, position + 1, character));
      previous = "'";
    } else if (character === '`' || (character === '}' && templates.at(-1) === 0)) {
      if (character === '}') templates.pop();
      const end = templateEnd(source, position + 1);
      if (source[end - 1] === '{') templates.push(0);
      add('string', end);
      previous = source[end - 1] === '{' ? '{' : "'";
    } else if (character === '/' && startsRegExp(source, position, previous)) {
      add('string', regExpEnd(source, position + 1));
      previous = "'";
    } else {
      const depth = templates.length - 1;
      if (character === '{' && depth >= 0) templates[depth] = (templates[depth] ?? 0) + 1;
      if (character === '}' && depth >= 0) templates[depth] = (templates[depth] ?? 0) - 1;
      if (character.trim() !== '') previous = character;
      position += 1;
    }
  }
  return regions;
}

function endOf(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found === -1 ? source.length : found;
}

function quoteEnd(source: string, from: number, quote: string): number {
  let at = from;
  while (at < source.length && source[at] !== quote && source[at] !== '\n') at += source[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, source.length);
}

/** Behind the closing quote, or behind the `${` that interrupts the text. */
function templateEnd(source: string, from: number): number {
  let at = from;
  while (at < source.length) {
    if (source[at] === '`') return at + 1;
    if (source[at] === '$' && source[at + 1] === '{') return at + 2;
    at += source[at] === '\\' ? 2 : 1;
  }
  return source.length;
}

function startsRegExp(source: string, position: number, previous: string): boolean {
  if (previous === '' || '(,=:[!&|?{};+-*%<>~^'.includes(previous)) return true;
  return /\b(?:return|case|typeof|in|of)\s*$/.test(source.slice(Math.max(0, position - 12), position));
}

function regExpEnd(source: string, from: number): number {
  let at = from;
  let inClass = false;
  while (at < source.length && source[at] !== '\n') {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '[') inClass = true;
    else if (source[at] === ']') inClass = false;
    else if (source[at] === '/' && !inClass) return at + 1;
    at += 1;
  }
  return at;
}
