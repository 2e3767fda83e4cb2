/**
 * A copy of a state without the fields that no two runs share; lists in an order of their own. The random end of a DaemonSet-mode
 * worker's name goes too, and what the comment of a Slurm node repeats of all that.
 */
export function steady(value: unknown, fleeting: ReadonlySet<string>): unknown {
  if (Array.isArray(value))
    return value
      .map((one) => steady(one, fleeting))
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value === 'string')
    return value
      .replaceAll(/"nodeSetUID":"[^"]*"/g, '')
      .replace(/^(slinky\.slurm\.net\/nodeset:).*/, '$1?')
      .replace(/^(w-)[a-z0-9]{5}$/, '$1?')
      .replaceAll(/"podName":"w-[a-z0-9]{5}"/g, '');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !fleeting.has(key))
      .map(([key, inner]) => [key, steady(inner, fleeting)]),
  );
}
