/**
 * Kubernetes quantities ("500m", "1Gi", "2e3"): exact arithmetic and the one canonical text of each value.
 * Values are counted in billionths (the finest step the API keeps), so sums never drift.
 */

const BILLION = 1_000_000_000n;

/** How a quantity was written; the canonical text stays in the same family where it can. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export interface Quantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

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

/** Reads a quantity; `undefined` when the text is none. A number is read as its decimal text, as the API does. */
export function parseQuantity(text: string | number): Quantity | undefined {
  const match = SYNTAX.exec(String(text));
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(`${whole}${fraction}`);
  const binary = BINARY_SUFFIXES[suffix];
  const decimal = DECIMAL_SUFFIXES[suffix];
  const format: QuantityFormat =
    binary !== undefined ? 'BinarySI' : decimal !== undefined ? 'DecimalSI' : 'DecimalExponent';
  const exponent = binary === undefined ? (decimal ?? Number(suffix.slice(1))) : 0;
  if (Math.abs(exponent) > 64) return undefined;
  const scaled = digits * (binary === undefined ? 1n : 1n << BigInt(binary));
  const nanos = scaleUp(scaled, exponent + 9 - fraction.length);
  return { nanos: sign === '-' ? -nanos : nanos, format };
}

/** Multiplies by a power of ten; what is finer than a billionth is rounded away from zero, never lost. */
function scaleUp(value: bigint, power: number): bigint {
  if (power >= 0) return value * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (value + divisor - 1n) / divisor;
}

/** The canonical text: no fraction, the largest suffix that keeps the number whole. */
export function formatQuantity(quantity: Quantity): string {
  const { nanos } = quantity;
  const magnitude = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? '-' : '';
  // Small or fractional binary amounts are written in decimal: "512", not "0.5Ki".
  if (quantity.format === 'BinarySI' && magnitude >= 1024n * BILLION && magnitude % BILLION === 0n) {
    let amount = magnitude / BILLION;
    let power = 0;
    while (amount % 1024n === 0n && power < 60) {
      amount /= 1024n;
      power += 10;
    }
    return `${sign}${amount}${power === 0 ? '' : BINARY_BY_EXPONENT.get(power)}`;
  }
  if (magnitude === 0n) return '0';
  let amount = magnitude;
  let power = -9;
  while (amount % 1000n === 0n && power < 18) {
    amount /= 1000n;
    power += 3;
  }
  if (quantity.format === 'DecimalExponent') return `${sign}${amount}${power === 0 ? '' : `e${power}`}`;
  return `${sign}${amount}${DECIMAL_BY_EXPONENT.get(power) ?? ''}`;
}

/** The canonical text of a quantity as sent, or `undefined` when it is none. */
export function canonicalQuantity(text: string | number): string | undefined {
  const quantity = parseQuantity(text);
  return quantity && formatQuantity(quantity);
}

export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

/** The sum, written in the family of the first that is not zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos - b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

export const ZERO_QUANTITY: Quantity = { nanos: 0n, format: 'DecimalSI' };
