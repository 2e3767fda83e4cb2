/** Label selectors as they are written in URLs: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`. Pure. */
import { isWholeNumber, type SelectorRule } from './label-selector.ts';
import { labelValue, qualifiedName } from './name-rules.ts';

/** A selector that cannot be read; its message is the one of the real server. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

/** Throws a `SelectorError` that says, in the words of the real server, what was found and what was expected. */
export function parseLabelSelector(text: string): readonly SelectorRule[] {
  return text.trim() === '' ? [] : new Parser(text).parse();
}

/** '' is the end of the text. */
type Token = string;

const special = new Set(['', '(', ')', ',', '!', '=', '==', '!=', '>', '<']);
const operators = 'in, notin, =, ==, !=, gt, lt';

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g) ?? [];
  }

  parse(): SelectorRule[] {
    const requirements: SelectorRule[] = [];
    for (;;) {
      const next = this.#next;
      if (next !== '!' && special.has(next))
        throw new SelectorError(`found '${next}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirement());
      const separator = this.#take();
      if (separator === '') return requirements;
      if (separator !== ',')
        throw new SelectorError(`found '${separator}', expected: ',' or 'end of string'`);
      if (this.#next !== '!' && special.has(this.#next))
        throw new SelectorError(`found '${this.#next}', expected: identifier after ','`);
    }
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? '';
  }

  #take(): Token {
    const token = this.#next;
    this.#at += 1;
    return token;
  }

  #requirement(): SelectorRule {
    const absent = this.#next === '!';
    if (absent) this.#take();
    const key = this.#identifier();
    this.#check('key', key, qualifiedName(key));
    if (absent) return { key, operator: 'DoesNotExist' };
    if (this.#next === '' || this.#next === ',') return { key, operator: 'Exists' };
    const operator = this.#take();
    switch (operator) {
      case 'in':
      case 'notin':
        return { key, operator: operator === 'in' ? 'In' : 'NotIn', values: this.#checked(key, this.#set()) };
      case '=':
      case '==':
        return { key, operator: 'In', values: this.#checked(key, [this.#exact()]) };
      case '!=':
        return { key, operator: 'NotIn', values: this.#checked(key, [this.#exact()]) };
      case '>':
      case '<':
        return { key, operator: operator === '>' ? 'Gt' : 'Lt', values: [this.#number()] };
      default:
        throw this.#fault(`found '${operator}', expected: ${operators}`);
    }
  }

  #identifier(): string {
    const token = this.#take();
    if (special.has(token)) throw this.#fault(`found '${token}', expected: identifier`);
    return token;
  }

  #exact(): string {
    return this.#next === '' || this.#next === ',' ? '' : this.#identifier();
  }

  #number(): string {
    const value = this.#exact();
    if (!isWholeNumber(value))
      throw this.#fault(
        `values[0]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    return value;
  }

  #set(): string[] {
    const open = this.#take();
    if (open !== '(') throw this.#fault(`found '${open}' expected: '('`);
    const values: string[] = [];
    if (this.#next === ')') {
      this.#take();
      return values;
    }
    for (;;) {
      values.push(this.#next === ',' || this.#next === ')' ? '' : this.#identifier());
      const separator = this.#take();
      if (separator === ')') return values;
      if (separator !== ',') throw this.#fault(`found '${separator}', expected: ',' or ')'`);
    }
  }

  #checked(key: string, values: readonly string[]): readonly string[] {
    for (const [index, value] of values.entries())
      this.#check(`values[${index}][${key}]`, value, labelValue(value));
    return values;
  }

  #check(field: string, value: string, [fault]: readonly string[]): void {
    if (fault !== undefined) throw this.#fault(`${field}: Invalid value: ${JSON.stringify(value)}: ${fault}`);
  }

  #fault(text: string): Error {
    return new SelectorError(`unable to parse requirement: ${text}`);
  }
}
