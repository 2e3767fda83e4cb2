/** Label selectors as they stand in URLs: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`. */
import { labelValue, qualifiedName } from '../builtins/name-rules.ts';
import { badRequest } from '../errors.ts';

export type LabelRequirement =
  | { readonly key: string; readonly operator: 'exists' | 'absent' }
  | { readonly key: string; readonly operator: 'in' | 'notin'; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: 'gt' | 'lt'; readonly value: number };

export type LabelSelector = readonly LabelRequirement[];

/** Throws a 400 that says, in the words of the real server, what was found and what was expected. */
export function parseLabelSelector(text: string): LabelSelector {
  return text.trim() === '' ? [] : new Parser(text).parse();
}

export function labelsMatch(selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean {
  return selector.every((requirement) => {
    const value = labels[requirement.key];
    switch (requirement.operator) {
      case 'exists':
        return value !== undefined;
      case 'absent':
        return value === undefined;
      case 'in':
        return value !== undefined && requirement.values.includes(value);
      case 'notin':
        return value === undefined || !requirement.values.includes(value);
      case 'gt':
        return value !== undefined && isWhole(value) && Number(value) > requirement.value;
      default:
        return value !== undefined && isWhole(value) && Number(value) < requirement.value;
    }
  });
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

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const next = this.#next;
      if (next !== '!' && special.has(next))
        throw badRequest(`found '${next}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirement());
      const separator = this.#take();
      if (separator === '') return requirements;
      if (separator !== ',') throw badRequest(`found '${separator}', expected: ',' or 'end of string'`);
      if (this.#next !== '!' && special.has(this.#next))
        throw badRequest(`found '${this.#next}', expected: identifier after ','`);
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

  #requirement(): LabelRequirement {
    const absent = this.#next === '!';
    if (absent) this.#take();
    const key = this.#identifier();
    this.#check('key', key, qualifiedName(key));
    if (absent) return { key, operator: 'absent' };
    if (this.#next === '' || this.#next === ',') return { key, operator: 'exists' };
    const operator = this.#take();
    switch (operator) {
      case 'in':
      case 'notin':
        return { key, operator, values: this.#checked(key, this.#set()) };
      case '=':
      case '==':
        return { key, operator: 'in', values: this.#checked(key, [this.#exact()]) };
      case '!=':
        return { key, operator: 'notin', values: this.#checked(key, [this.#exact()]) };
      case '>':
      case '<':
        return { key, operator: operator === '>' ? 'gt' : 'lt', value: this.#number() };
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

  #number(): number {
    const value = this.#exact();
    if (!isWhole(value))
      throw this.#fault(
        `values[0]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    return Number(value);
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
    return badRequest(`unable to parse requirement: ${text}`);
  }
}

function isWhole(value: string): boolean {
  return /^-?\d+$/.test(value);
}
