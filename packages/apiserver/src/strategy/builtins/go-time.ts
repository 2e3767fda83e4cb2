/** Times as the API reads and writes them; faults are worded as its parser words them. */

const SECONDS_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

type Parsed = { readonly text: string } | { readonly fault: string };

/** A layout piece, what it matches, and its name in faults. */
type Piece = readonly [label: string, pattern: RegExp];

const DATE_AND_TIME: readonly Piece[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d{2}/],
  ['-', /^-/],
  ['02', /^\d{2}/],
  ['T', /^T/],
  ['15', /^\d{2}/],
  [':', /^:/],
  ['04', /^\d{2}/],
  [':', /^:/],
  // Seconds may carry a fraction the layout does not name.
  ['05', /^\d{2}/],
];
const ZONE: Piece = ['Z07:00', /^(Z|[+-]\d{2}:\d{2})/];

/** metadata times and most others: whole seconds, UTC. */
export function readTime(text: string): Parsed {
  const fault = mismatch(text, [...DATE_AND_TIME, ['', /^([.,]\d+)?/], ZONE], SECONDS_LAYOUT);
  if (fault !== undefined) return { fault };
  return { text: new Date(text).toISOString().replace(/\.\d+Z$/, 'Z') };
}

/** Lease and event times: six digits of fraction, no more, no less. */
export function readMicroTime(text: string): Parsed {
  const fault = mismatch(text, [...DATE_AND_TIME, ['.000000', /^\.\d{6}/], ZONE], MICRO_LAYOUT);
  if (fault !== undefined) return { fault };
  const fraction = /\.(\d{6})/.exec(text)?.[1] ?? '000000';
  return { text: new Date(text).toISOString().replace(/\.\d+Z$/, `.${fraction}Z`) };
}

function mismatch(text: string, pieces: readonly Piece[], layout: string): string | undefined {
  let rest = text;
  for (const [label, pattern] of pieces) {
    const found = pattern.exec(rest);
    if (!found)
      return `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${label}"`;
    rest = rest.slice(found[0].length);
  }
  if (rest !== '') return `parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`;
  return Number.isNaN(Date.parse(text))
    ? `parsing time ${JSON.stringify(text)}: day out of range`
    : undefined;
}

/** Where base64 text breaks, as the API counts it; `undefined` when it is fine. */
export function base64Fault(text: string): string | undefined {
  const compact = text.replaceAll(/[\r\n]/g, '');
  const bad = compact.search(/[^A-Za-z0-9+/=]/);
  const padded = compact.search(/=(?!=?$)/);
  const at =
    bad >= 0
      ? bad
      : padded >= 0
        ? padded
        : compact.length % 4 === 0
          ? -1
          : compact.length - (compact.length % 4);
  return at < 0 ? undefined : `illegal base64 data at input byte ${at}`;
}
