/** Kubernetes quantities, such as 500m and 8Gi, as numbers. Pure. */

const suffixes: Record<string, number> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
  Ei: 1024 ** 6,
};

/** A Kubernetes quantity as a number; 0 for what is absent or is none. */
export function quantity(value: string | number | undefined): number {
  const match = /^(\d+(?:\.\d+)?)([eE]\d+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/.exec(String(value ?? ''));
  return match === null ? 0 : Number(`${match[1]}${match[2] ?? ''}`) * (suffixes[match[3] ?? ''] ?? 0);
}
