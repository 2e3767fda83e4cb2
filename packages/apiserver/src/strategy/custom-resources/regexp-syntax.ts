/**
 * Whether the regular expression engine of Kubernetes (RE2 syntax) can read a pattern. JavaScript reads more: look-around,
 * back references, escapes such as `\u0041`. A definition with such a pattern works here and is refused by a cluster.
 */

const PERL = 'invalid or unsupported Perl syntax';
const NAMED = 'invalid named capture';
const ESCAPE = 'invalid escape sequence';
const RANGE = 'invalid character class range';
const MAXIMUM_REPEAT = 1000;
/** Letters that may follow a backslash. */
const escapes = new Set('aAbBCdDfnrsStvwWz');
const classEscapes = new Set('adDfnrsStvwW');

class Unreadable extends Error {}

function refuse(what: string, expression: string): never {
  throw new Unreadable(`error parsing regexp: ${what}: \`${expression}\``);
}

/** What the engine says about a pattern it cannot read. */
export function regexpFault(pattern: string): string | undefined {
  try {
    new PatternReader(pattern).read();
    return undefined;
  } catch (error) {
    if (error instanceof Unreadable) return error.message;
    throw error;
  }
}

class PatternReader {
  readonly #text: string;
  #at = 0;
  #open = 0;
  /** What an operator such as `*` would repeat: nothing yet, something, or a repetition. */
  #before: 'nothing' | 'atom' | 'repetition' = 'nothing';
  #repetitionStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): void {
    while (this.#at < this.#text.length) this.#readOne();
    if (this.#open > 0) refuse('missing closing )', this.#text);
  }

  #readOne(): void {
    const character = this.#text[this.#at] ?? '';
    switch (character) {
      case '(':
        this.#readGroup();
        break;
      case ')':
        if (this.#open === 0) refuse('unexpected )', this.#text);
        this.#open -= 1;
        this.#take(1, 'atom');
        break;
      case '|':
        this.#take(1, 'nothing');
        break;
      case '*':
      case '+':
      case '?':
        this.#repeat(1);
        break;
      case '{':
        this.#readCount();
        break;
      case '[':
        this.#readClass();
        break;
      case '\\':
        this.#readEscape(escapes);
        this.#before = 'atom';
        break;
      default:
        this.#take(character.length, 'atom');
    }
  }

  #take(length: number, before: 'nothing' | 'atom'): void {
    this.#at += length;
    this.#before = before;
  }

  #readGroup(): void {
    const rest = this.#text.slice(this.#at);
    this.#open += 1;
    if (!rest.startsWith('(?')) return this.#take(1, 'nothing');
    const named = /^\(\?P?</.exec(rest);
    if (named) {
      const end = rest.indexOf('>');
      if (end < 0) refuse(NAMED, rest);
      const name = rest.slice(named[0].length, end);
      if (!/^\w+$/.test(name)) refuse(NAMED, rest.slice(0, end + 1));
      return this.#take(end + 1, 'nothing');
    }
    const flags = /^\(\?([imsU]+(-[imsU]+)?|-[imsU]+)?([:)])/.exec(rest);
    if (!flags) refuse(PERL, /^\(\?[imsU-]*.?/s.exec(rest)?.[0] ?? rest);
    if (flags[3] === ')') this.#open -= 1;
    this.#take(flags[0].length, 'nothing');
  }

  #repeat(length: number): void {
    const start = this.#at;
    const operator = this.#text.slice(start, start + length);
    if (this.#before === 'nothing') refuse('missing argument to repetition operator', operator);
    const end = start + length + (this.#text[start + length] === '?' ? 1 : 0);
    if (this.#before === 'repetition')
      refuse('invalid nested repetition operator', this.#text.slice(this.#repetitionStart, end));
    this.#repetitionStart = start;
    this.#at = end;
    this.#before = 'repetition';
  }

  /** A brace that is no count stands for itself. */
  #readCount(): void {
    const found = /^\{(\d+)(,(\d*))?\}/.exec(this.#text.slice(this.#at));
    if (!found) return this.#take(1, 'atom');
    const [count, least = '', , most = ''] = found;
    if (
      Number(least) > MAXIMUM_REPEAT ||
      Number(most) > MAXIMUM_REPEAT ||
      (most && Number(most) < Number(least))
    )
      refuse('invalid repeat count', count);
    this.#repeat(count.length);
  }

  #readEscape(letters: ReadonlySet<string>): void {
    const rest = this.#text.slice(this.#at);
    const next = rest[1];
    if (next === undefined) refuse('trailing backslash at end of expression', '');
    const length =
      /^\\Q.*?(\\E|$)/s.exec(rest)?.[0].length ??
      /^\\[pP](\{\^?\w+\}|[A-Z])/.exec(rest)?.[0].length ??
      /^\\x([0-9a-fA-F]{2}|\{[0-9a-fA-F]+\})/.exec(rest)?.[0].length ??
      /^\\(0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest)?.[0].length ??
      (letters.has(next) || !/[0-9A-Za-z]/.test(next) ? 2 : undefined);
    if (length === undefined) refuse(ESCAPE, rest.slice(0, 2));
    this.#at += length;
  }

  #readClass(): void {
    const start = this.#at;
    this.#at += this.#text[start + 1] === '^' ? 2 : 1;
    for (let first = true; first || this.#text[this.#at] !== ']'; first = false) {
      if (this.#at >= this.#text.length) refuse('missing closing ]', this.#text.slice(start));
      const rest = this.#text.slice(this.#at);
      const posix = /^\[:(\^?\w+):\]/.exec(rest);
      if (posix) this.#at += posix[0].length;
      else this.#readRange();
    }
    this.#take(1, 'atom');
  }

  #readRange(): void {
    const start = this.#at;
    const low = this.#readMember();
    if (this.#text[this.#at] !== '-' || [undefined, ']'].includes(this.#text[this.#at + 1])) return;
    this.#at += 1;
    const high = this.#readMember();
    if (low === undefined || high === undefined || high < low)
      refuse(RANGE, this.#text.slice(start, this.#at));
  }

  /** The code of a single character; undefined for an escape, of which the order is not checked. */
  #readMember(): number | undefined {
    const start = this.#at;
    if (this.#text[start] !== '\\') {
      const code = this.#text.codePointAt(start) ?? 0;
      this.#at += code > 0xffff ? 2 : 1;
      return code;
    }
    this.#readEscape(classEscapes);
    const escaped = this.#text.slice(start + 1, this.#at);
    return escaped.length === 1 && !/[dDsSwW]/.test(escaped) ? escaped.codePointAt(0) : undefined;
  }
}
