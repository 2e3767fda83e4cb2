/**
 * Reads Slurm's configuration syntax as far as it matters for merging: comments, continuation lines, keys without
 * regard to case, quoted values. It never fails; what it does not understand it passes by.
 */

export interface ParsedLine {
  /** Line number of its beginning, from 1. */
  readonly line: number;
  /** The pairs of the line, in order. */
  readonly pairs: readonly { readonly key: string; readonly value: string }[];
}

const pair = /([A-Za-z_][A-Za-z0-9_.]*)\s*(?:[+\-*/]?=)\s*("(?:[^"\\]|\\.)*"|[^\s"]*)/g;

export function parseSlurmConf(text: string): ParsedLine[] {
  const parsed: ParsedLine[] = [];
  let pending = '';
  let start = 1;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (pending === '') start = index + 1;
    const line = withoutComment(raw);
    if (line.endsWith('\\')) {
      pending += `${line.slice(0, -1)} `;
      continue;
    }
    const whole = pending + line;
    pending = '';
    push(parsed, start, whole);
  }
  push(parsed, start, pending);
  return parsed;
}

function push(parsed: ParsedLine[], line: number, text: string): void {
  const pairs = [...text.matchAll(pair)].map(([, key = '', value = '']) => ({ key, value: unquote(value) }));
  if (pairs.length > 0) parsed.push({ line, pairs });
}

/** A comment sign ends the line unless a backslash precedes it. */
function withoutComment(line: string): string {
  for (let at = line.indexOf('#'); at >= 0; at = line.indexOf('#', at + 1))
    if (line[at - 1] !== '\\') return line.slice(0, at).trimEnd();
  return line.trimEnd();
}

const unquote = (value: string): string =>
  value.startsWith('"') && value.endsWith('"') && value.length >= 2 ? value.slice(1, -1) : value;

/** What a line sets as a whole file would see it: its first key, lower-cased, and the value. The last one wins. */
export function topLevelSettings(text: string): Map<string, { key: string; value: string; line: number }> {
  const settings = new Map<string, { key: string; value: string; line: number }>();
  for (const { line, pairs } of parseSlurmConf(text)) {
    const [first] = pairs;
    if (first === undefined || recordKeys.has(first.key.toLowerCase())) continue;
    // Slurm takes several settings on one line, too.
    for (const { key, value } of pairs) settings.set(key.toLowerCase(), { key, value, line });
  }
  return settings;
}

/** Lines that begin so describe one of many things; they never replace each other. */
const recordKeys = new Set([
  'nodename',
  'partitionname',
  'nodeset',
  'downnodes',
  'frontendname',
  'slurmctldhost',
  'include',
]);
