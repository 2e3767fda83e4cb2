/** Resource quantities (`100m`, `1Gi`, `2e3`) as exact decimals. */

const suffixes: Readonly<Record<string, readonly [base: 2 | 10, exponent: number]>> = {
  '': [10, 0],
  n: [10, -9],
  u: [10, -6],
  m: [10, -3],
  k: [10, 3],
  M: [10, 6],
  G: [10, 9],
  T: [10, 12],
  P: [10, 15],
  E: [10, 18],
  Ki: [2, 10],
  Mi: [2, 20],
  Gi: [2, 30],
  Ti: [2, 40],
  Pi: [2, 50],
  Ei: [2, 60],
};

const written = /^([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE]))?$/;

/** Billionths: nothing smaller than a nano is kept, as quantities round up to it. */
const scale = 9;

export class Quantity {
  /** The value times 10^9. */
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  static parse(text: string): Quantity | undefined {
    const match = written.exec(text);
    if (!match) return undefined;
    const [, sign, digits = '', exponent, suffix = ''] = match;
    const [whole = '', fraction = ''] = digits.split('.');
    let value = BigInt(`${whole}${fraction}` || '0');
    const [base, power] = exponent
      ? ([10, Number(exponent.slice(1))] as const)
      : (suffixes[suffix] ?? [10, 0]);
    if (Math.abs(power) > 100) return undefined;
    if (base === 2) value <<= BigInt(power);
    const shift = scale - fraction.length + (base === 10 ? power : 0);
    value = shift >= 0 ? value * 10n ** BigInt(shift) : roundUp(value, 10n ** BigInt(-shift));
    return new Quantity(sign === '-' ? -value : value);
  }

  static ofInt(value: bigint): Quantity {
    return new Quantity(value * 10n ** BigInt(scale));
  }

  compare(other: Quantity): number {
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  add(other: Quantity): Quantity {
    return new Quantity(this.nanos + other.nanos);
  }

  sub(other: Quantity): Quantity {
    return new Quantity(this.nanos - other.nanos);
  }

  get sign(): bigint {
    return this.nanos > 0n ? 1n : this.nanos < 0n ? -1n : 0n;
  }

  get isInteger(): boolean {
    return this.nanos % 10n ** BigInt(scale) === 0n;
  }

  /** The whole number; undefined when it has a fraction or does not fit 64 bits. */
  get integer(): bigint | undefined {
    if (!this.isInteger) return undefined;
    const value = this.nanos / 10n ** BigInt(scale);
    return BigInt.asIntN(64, value) === value ? value : undefined;
  }

  get approximateFloat(): number {
    return Number(this.nanos) / 10 ** scale;
  }
}

function roundUp(value: bigint, by: bigint): bigint {
  return value % by === 0n ? value / by : value / by + 1n;
}
