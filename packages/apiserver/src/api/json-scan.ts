/**
 * Walks a JSON text for what JSON.parse does not tell: keys given twice, and what is wrong with a malformed text in the
 * words of the real server.
 */

export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/** Paths of keys that stand twice in one object (`data.k`, `spec.containers[0].name`); throws JsonSyntaxError. */
export function duplicateKeys(text: string): string[] {
  const scan = new Scan(text);
  scan.document();
  return scan.duplicates;
}

class Scan {
  readonly duplicates: string[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#value('');
    this.#space();
    if (this.#at < this.#text.length) this.#fail('after top-level value');
  }

  #value(path: string): void {
    this.#space();
    const character = this.#text[this.#at];
    if (character === '{') this.#object(path);
    else if (character === '[') this.#array(path);
    else if (character === '"') this.#string();
    else if (character === 't') this.#literal('true');
    else if (character === 'f') this.#literal('false');
    else if (character === 'n') this.#literal('null');
    else if (character === '-' || isDigit(character)) this.#number();
    else this.#fail('looking for beginning of value');
  }

  #object(path: string): void {
    this.#at += 1;
    this.#space();
    if (this.#take('}')) return;
    const seen = new Set<string>();
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') this.#fail('looking for beginning of object key string');
      const key = this.#string();
      const place = path === '' ? key : `${path}.${key}`;
      if (seen.has(key)) this.duplicates.push(place);
      seen.add(key);
      this.#space();
      if (!this.#take(':')) this.#fail('after object key');
      this.#value(place);
      this.#space();
      if (this.#take('}')) return;
      if (!this.#take(',')) this.#fail('after object key:value pair');
    }
  }

  #array(path: string): void {
    this.#at += 1;
    this.#space();
    if (this.#take(']')) return;
    for (let index = 0; ; index += 1) {
      this.#value(`${path}[${index}]`);
      this.#space();
      if (this.#take(']')) return;
      if (!this.#take(',')) this.#fail('after array element');
    }
  }

  #string(): string {
    const from = this.#at;
    this.#at += 1;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (Number.isNaN(code) || code < 0x20) this.#fail('in string literal');
      if (code === 0x22) break;
      this.#at += 1;
      if (code === 0x5c) this.#escape();
    }
    this.#at += 1;
    const raw = this.#text.slice(from + 1, this.#at - 1);
    return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
  }

  #escape(): void {
    const character = this.#text[this.#at];
    if (character === undefined || !'"\\/bfnrtu'.includes(character)) this.#fail('in string escape code');
    this.#at += 1;
    if (character !== 'u') return;
    for (let count = 0; count < 4; count += 1) {
      if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? '')) this.#fail('in \\u hexadecimal character escape');
      this.#at += 1;
    }
  }

  #literal(word: string): void {
    for (let index = 0; index < word.length; index += 1) {
      if (this.#text[this.#at] !== word[index]) this.#fail(`in literal ${word} (expecting '${word[index]}')`);
      this.#at += 1;
    }
  }

  #number(): void {
    this.#take('-');
    if (!this.#take('0')) this.#digits('in numeric literal');
    if (this.#take('.')) this.#digits('after decimal point in numeric literal');
    if (this.#take('e') || this.#take('E')) {
      if (!this.#take('+')) this.#take('-');
      this.#digits('in exponent of numeric literal');
    }
  }

  #digits(where: string): void {
    if (!isDigit(this.#text[this.#at])) this.#fail(where);
    while (isDigit(this.#text[this.#at])) this.#at += 1;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x')) this.#at += 1;
  }

  #fail(where: string): never {
    const character = this.#text[this.#at];
    if (character === undefined) throw new JsonSyntaxError('unexpected end of JSON input');
    throw new JsonSyntaxError(`invalid character ${quoted(character)} ${where}`);
  }
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}

function quoted(character: string): string {
  if (character === "'") return `'\\''`;
  if (character === '"') return `'"'`;
  const code = character.charCodeAt(0);
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return `'\\u${code.toString(16).padStart(4, '0')}'`;
  return `'${character}'`;
}
