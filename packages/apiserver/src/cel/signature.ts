/**
 * Functions are declared in one line each: `string.contains(string) bool`, `size(list(A)) int`.
 * A name before the dot is the receiver's type; single capital letters are type parameters.
 */
import type { CelType, Simple } from './types.ts';
import type { CelValue } from './values.ts';

export interface Overload {
  readonly name: string;
  readonly receiver: CelType | undefined;
  readonly params: readonly CelType[];
  readonly result: CelType;
  /** Arguments with the receiver first. */
  readonly run: (...args: never[]) => CelValue;
}

export function overload(signature: string, run: (...args: never[]) => CelValue): Overload {
  const reader = new SignatureReader(signature);
  return { ...reader.read(), run };
}

const simple: Readonly<Record<string, Simple>> = {
  int: 'int',
  uint: 'uint',
  double: 'double',
  bool: 'bool',
  string: 'string',
  bytes: 'bytes',
  null: 'null',
  dyn: 'dyn',
  duration: 'duration',
  timestamp: 'timestamp',
  type: 'type',
};

const opaque: Readonly<Record<string, string>> = {
  Quantity: 'kubernetes.Quantity',
  URL: 'kubernetes.URL',
  IP: 'net.IP',
  CIDR: 'net.CIDR',
  Semver: 'kubernetes.Semver',
  Format: 'kubernetes.NamedFormat',
};

class SignatureReader {
  #rest: string;

  constructor(text: string) {
    this.#rest = text;
  }

  read(): Omit<Overload, 'run'> {
    // The function name is what stands before the parameter list; a dotted type may stand before it.
    const head = /^((?:[A-Za-z]+(?:\([^()]*(?:\([^()]*\))?[^()]*\))?)\.)?([\w.@!?:[\]<>=&|+*/%-]+)\(/.exec(
      this.#rest,
    );
    if (!head) throw new Error(`cannot read the signature ${this.#rest}`);
    let receiver: CelType | undefined;
    let name = head[2] ?? '';
    const before = head[1]?.slice(0, -1);
    if (before !== undefined) {
      if (simple[before] || opaque[before] || before.includes('(') || /^[A-Z]$/.test(before))
        receiver = new SignatureReader(before).#type();
      else name = `${before}.${name}`;
    }
    this.#rest = this.#rest.slice(head[0].length);
    const params = this.#types();
    return { name, receiver, params, result: this.#type() };
  }

  #types(): CelType[] {
    const types: CelType[] = [];
    while (!this.#skip(')')) {
      types.push(this.#type());
      this.#skip(',');
    }
    return types;
  }

  #skip(symbol: string): boolean {
    this.#rest = this.#rest.trimStart();
    if (!this.#rest.startsWith(symbol)) return false;
    this.#rest = this.#rest.slice(symbol.length).trimStart();
    return true;
  }

  #type(): CelType {
    this.#rest = this.#rest.trimStart();
    const name = /^[A-Za-z]+/.exec(this.#rest)?.[0] ?? '';
    this.#rest = this.#rest.slice(name.length);
    const kind = simple[name];
    if (kind) return { kind };
    const opaqueName = opaque[name];
    if (opaqueName) return { kind: 'opaque', name: opaqueName };
    if (/^[A-Z]$/.test(name)) return { kind: 'param', name };
    if (!this.#skip('(')) throw new Error(`no type is called ${name}`);
    const [first = { kind: 'dyn' }, second = { kind: 'dyn' }] = this.#types();
    if (name === 'list') return { kind: 'list', item: first };
    if (name === 'map') return { kind: 'map', key: first, value: second };
    return { kind: 'optional', of: first };
  }
}
