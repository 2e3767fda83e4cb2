/** How many workers may be missing at a time: a number, or a percentage of the desired count, rounded up; at least one. */
export function resolveMaxUnavailable(value: number | string, desired: number): number {
  const percent = typeof value === 'string' ? /^(\d{1,3})%$/.exec(value)?.[1] : undefined;
  const count = percent === undefined ? Number(value) : Math.ceil((desired * Number(percent)) / 100);
  return Number.isFinite(count) ? Math.max(1, Math.floor(count)) : 1;
}
