/**
 * Kubernetes quantities ("500m", "1Gi", "2e3"): exact arithmetic and the one canonical text of each value.
 * Values are counted in billionths (the finest step the API keeps), so sums never drift. Pure.
 */

const BILLION = 1_000_000_000n;

/** How a quantity was written; the canonical text stays in the same family where it can. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** The text the API answers with when a quantity cannot be read. */
export const QUANTITY_SYNTAX_MESSAGE =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const DECIMAL_SUFFIXES: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_SUFFIXES: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const DECIMAL_BY_EXPONENT = new Map(
  Object.entries(DECIMAL_SUFFIXES).map(([suffix, power]) => [power, suffix]),
);
const BINARY_BY_EXPONENT = new Map(Object.entries(BINARY_SUFFIXES).map(([suffix, power]) => [power, suffix]));

const SYNTAX = /^([+-]?)(\d*)(?:\.(\d*))?((?:[KMGTPE]i)|[numkMGTPE]|(?:[eE][+-]?\d+))?$/;
/** Larger exponents would only serve to build huge numbers. */
const LARGEST_EXPONENT = 100;

export class Quantity {
  static readonly ZERO = new Quantity(0n);
  /** The value times 10^9. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;

  constructor(nanos: bigint, format: QuantityFormat = 'DecimalSI') {
    this.nanos = nanos;
    this.format = format;
  }

  /** `undefined` when the text is no quantity. A number is read as its decimal text, as the API does. */
  static parse(text: string | number): Quantity | undefined {
    const match = SYNTAX.exec(String(text));
    if (!match) return undefined;
    const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
    if (whole === '' && fraction === '') return undefined;
    const digits = BigInt(`${whole}${fraction}`);
    const binary = BINARY_SUFFIXES[suffix];
    const decimal = DECIMAL_SUFFIXES[suffix];
    const format =
      binary !== undefined ? 'BinarySI' : decimal !== undefined ? 'DecimalSI' : 'DecimalExponent';
    const exponent = binary === undefined ? (decimal ?? Number(suffix.slice(1))) : 0;
    if (Math.abs(exponent) > LARGEST_EXPONENT) return undefined;
    const scaled = digits * (binary === undefined ? 1n : 1n << BigInt(binary));
    const nanos = scale(scaled, exponent + 9 - fraction.length);
    return new Quantity(sign === '-' ? -nanos : nanos, format);
  }

  static ofInteger(value: bigint): Quantity {
    return new Quantity(value * BILLION);
  }

  compare(other: Quantity): number {
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  /** The sum, written in the family of the first that is not zero. */
  add(other: Quantity): Quantity {
    return new Quantity(this.nanos + other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  subtract(other: Quantity): Quantity {
    return new Quantity(this.nanos - other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  /** The whole number; undefined when it has a fraction or does not fit 64 bits. */
  get integer(): bigint | undefined {
    const value = this.nanos / BILLION;
    return this.nanos % BILLION === 0n && BigInt.asIntN(64, value) === value ? value : undefined;
  }

  get approximateNumber(): number {
    return Number(this.nanos / BILLION) + Number(this.nanos % BILLION) / 1e9;
  }

  /** The canonical text: no fraction, the largest suffix that keeps the number whole. */
  toString(): string {
    const magnitude = this.nanos < 0n ? -this.nanos : this.nanos;
    const sign = this.nanos < 0n ? '-' : '';
    if (magnitude === 0n) return '0';
    // Small or fractional binary amounts are written in decimal: "512", not "0.5Ki".
    if (this.format === 'BinarySI' && magnitude >= 1024n * BILLION && magnitude % BILLION === 0n) {
      const [amount, power] = climb(magnitude / BILLION, 1024n, { from: 0, step: 10, to: 60 });
      return `${sign}${amount}${BINARY_BY_EXPONENT.get(power) ?? ''}`;
    }
    const [amount, power] = climb(magnitude, 1000n, { from: -9, step: 3, to: 18 });
    if (this.format === 'DecimalExponent') return `${sign}${amount}${power === 0 ? '' : `e${power}`}`;
    return `${sign}${amount}${DECIMAL_BY_EXPONENT.get(power) ?? ''}`;
  }
}

/** The number that a quantity of a stored object stands for: it was validated, so nonsense counts as nothing, like absence. */
export function quantityNumber(text: string | number | undefined): number {
  return validated(text).approximateNumber;
}

/** CPU in thousandths of a core, rounded up as the scheduler does. */
export const milliCpu = (text: string | number | undefined): number =>
  Number(divideUp(validated(text).nanos, 1_000_000n));

/** Bytes, rounded up. */
export const bytes = (text: string | number | undefined): number =>
  Number(divideUp(validated(text).nanos, BILLION));

const validated = (text: string | number | undefined): Quantity =>
  Quantity.parse(text ?? '') ?? Quantity.ZERO;

/** Multiplies by a power of ten; what is finer than a billionth is rounded away from zero, never lost. */
function scale(value: bigint, power: number): bigint {
  return power >= 0 ? value * 10n ** BigInt(power) : divideUp(value, 10n ** BigInt(-power));
}

/** Towards positive infinity. */
function divideUp(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value > 0n && value % by !== 0n ? quotient + 1n : quotient;
}

/** Divides as long as the number stays whole, and answers it with its power. */
function climb(
  amount: bigint,
  base: bigint,
  powers: { readonly from: number; readonly step: number; readonly to: number },
): [amount: bigint, power: number] {
  let power = powers.from;
  let rest = amount;
  while (rest % base === 0n && power < powers.to) {
    rest /= base;
    power += powers.step;
  }
  return [rest, power];
}
