/** Kubernetes quantities ("500m", "1Gi", "2e3") as numbers. Pure. */

const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The number a quantity stands for. The API server has validated it, so nonsense counts as nothing, like absence. */
export function quantity(text: string | number | undefined): number {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(String(text ?? ''));
  return match === null ? 0 : Number(match[1]) * (suffixes[match[2] ?? ''] ?? 0);
}

/** CPU in thousandths of a core, rounded up as the scheduler does. */
export const milliCpu = (text: string | number | undefined): number =>
  Math.ceil(quantity(text) * 1000 - 1e-9);

/** Bytes, rounded up. */
export const bytes = (text: string | number | undefined): number => Math.ceil(quantity(text) - 1e-9);
