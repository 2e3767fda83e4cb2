/**
 * Reads Slurm's configuration syntax the way Slurm does: a comment ends a line before a continuation is looked for, lines that go on
 * are joined as they are, a backslash takes the meaning of what follows it, keys have no case, and a line may hold several pairs.
 * It never fails; what it does not understand it passes by.
 */

export interface ParsedLine {
  /** Line number of its beginning and its end, from 1. */
  readonly line: number;
  readonly last: number;
  /** The pairs of the line, in order. */
  readonly pairs: readonly ConfPair[];
  /** What follows the last pair and is none; Slurm refuses such a line. */
  readonly rest: string;
}

export interface ConfPair {
  readonly key: string;
  readonly value: string;
  /** `+`, `-`, `*` or `/` before the equals sign. */
  readonly operator?: string;
}

/** C's white space, not JavaScript's: a no-break space is a letter to Slurm. */
const pair =
  /[ \t\n\v\f\r]*([A-Za-z0-9_.]+)[ \t\n\v\f\r]*([-*+/]?)=[ \t\n\v\f\r]*(?:"([^"]*)"|([^ \t\n\v\f\r]+))(?=[ \t\n\v\f\r]|$)/y;

export function parseSlurmConf(text: string): ParsedLine[] {
  const parsed: ParsedLine[] = [];
  const lines = text.split('\n');
  let whole = '';
  let start = 0;
  for (const [index, raw] of lines.entries()) {
    // A NUL ends what C reads of a line.
    const line = withoutComment(raw.split('\0', 1)[0] ?? '');
    const goesOn = /(?<!\\)(?:\\\\)*\\[ \t\v\f\r]*$/.exec(line);
    whole += goesOn === null ? line : line.slice(0, line.lastIndexOf('\\'));
    if (goesOn !== null && index < lines.length - 1) continue;
    const { pairs, rest } = pairsOf(whole.replaceAll(/\\(.?)/gs, '$1'));
    if (pairs.length > 0) parsed.push({ line: start + 1, last: index + 1, pairs, rest });
    whole = '';
    start = index + 1;
  }
  return parsed;
}

function pairsOf(line: string): { readonly pairs: ConfPair[]; readonly rest: string } {
  const pairs: ConfPair[] = [];
  let end = 0;
  pair.lastIndex = 0;
  for (let found = pair.exec(line); found !== null; found = pair.exec(line)) {
    const [, key = '', operator = '', inQuotes, plain] = found;
    pairs.push({ key, value: inQuotes ?? plain ?? '', ...(operator === '' ? {} : { operator }) });
    end = pair.lastIndex;
  }
  return { pairs, rest: line.slice(end).trim() };
}

/** A comment sign ends the line unless an odd number of backslashes precedes it. */
function withoutComment(line: string): string {
  const at = /(?<!\\)(?:\\\\)*#/.exec(line);
  return at === null ? line : line.slice(0, at.index + at[0].length - 1);
}

/** What a line sets as a whole file would see it: its first key, lower-cased, and the value. The last one wins. */
export function topLevelSettings(
  text: string,
): Map<string, { readonly key: string; readonly value: string; readonly line: number }> {
  const settings = new Map<string, { key: string; value: string; line: number }>();
  for (const { line, pairs } of parseSlurmConf(text))
    for (const { key, value } of settingsOf(pairs)) settings.set(key.toLowerCase(), { key, value, line });
  return settings;
}

/** Slurm takes several settings on one line; from the first key of a record on, the line is about that thing. */
export function settingsOf(pairs: ParsedLine['pairs']): ParsedLine['pairs'] {
  const record = pairs.findIndex(({ key }) => recordKeys.has(key.toLowerCase()));
  return record < 0 ? pairs : pairs.slice(0, record);
}

/** Lines that go on so describe one of many things; they never replace each other. */
const recordKeys = new Set(['nodename', 'partitionname', 'nodeset', 'downnodes', 'frontendname']);

/** Pairs as one line that Slurm reads as the same pairs. */
export const renderPairs = (pairs: readonly ConfPair[]): string =>
  pairs.map(({ key, value, operator = '' }) => `${key}${operator}=${quoted(value)}`).join(' ');

/** The parser has taken escapes and quotes away; Slurm reads the same value again only with them. */
function quoted(value: string): string {
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('#', '\\#');
  return escaped === '' || /\s/.test(escaped) ? `"${escaped}"` : escaped;
}
