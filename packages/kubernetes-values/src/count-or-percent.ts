/** A count or a percentage of a total (IntOrString), as maxUnavailable, maxSurge and disruption budgets have it. Pure. */

/** The text the API answers with when a percentage cannot be read. */
export const PERCENT_SYNTAX_MESSAGE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** 25 of "25%"; undefined when the text is no percentage. */
export function parsePercent(text: string): number | undefined {
  const digits = /^(\d+)%$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The number itself, or the percentage of the total; `NaN` when it is neither. */
export function resolveCount(
  value: number | string,
  total: number,
  round: (value: number) => number,
): number {
  const percent = typeof value === 'string' ? parsePercent(value) : undefined;
  return percent === undefined ? Number(value) : round((percent * total) / 100);
}
