/**
 * An independent reading of Slurm's configuration files, for tests: what would slurmctld make of this text? Written from
 * Slurm's behaviour, one character after the other, and sharing nothing with the parser of the product; a sandbox test holds
 * it against real slurmctld.
 */

export interface Statement {
  /** Lower-cased. */
  readonly key: string;
  readonly value: string;
  /** What follows on the line of a record. */
  readonly rest?: string;
}

export type Reading =
  | { readonly kind: 'taken'; readonly statements: readonly Statement[] }
  | { readonly kind: 'refused'; readonly why: string };

export interface Vocabulary {
  /** Keys that Slurm knows, lower-cased. */
  readonly settings: { has(key: string): boolean };
  /** Keys that take the rest of their line with them, lower-cased. */
  readonly records: { has(key: string): boolean };
}

/** What C's isspace says. */
const isSpace = (c: string | undefined): boolean => c !== undefined && ' \t\n\v\f\r'.includes(c) && c !== '';
const isKeyLetter = (c: string | undefined): boolean => c !== undefined && /^[A-Za-z0-9_.]$/.test(c);

export function readSlurmConf(text: string, words: Vocabulary): Reading {
  const statements: Statement[] = [];
  for (const line of logicalLines(text)) {
    const pair = readPair(line);
    // Slurm reads one pair of each line; only a record has more, and parses them separately.
    const { key = '', value = '', end = 0 } = pair ?? {};
    const lower = key.toLowerCase();
    const rest = line.slice(end);
    if (words.records.has(lower)) statements.push({ key: lower, value, rest });
    else {
      if (key !== '' && !words.settings.has(lower)) return { kind: 'refused', why: `unknown key ${key}` };
      if (!rest.split('').every(isSpace)) return { kind: 'refused', why: `what is ${JSON.stringify(rest)}?` };
      if (key !== '') statements.push({ key: lower, value });
    }
  }
  return { kind: 'taken', statements };
}

function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let joined = '';
  const physical = text.split('\n');
  for (const [index, raw] of physical.entries()) {
    let line = '';
    for (let at = 0, slashes = 0; at < raw.length; at += 1) {
      const c = raw[at] ?? '';
      if (c === '\0') break;
      if (c === '#' && slashes % 2 === 0) break;
      slashes = c === '\\' ? slashes + 1 : 0;
      line += c;
    }
    let end = line.length;
    while (end > 0 && isSpace(line[end - 1])) end -= 1;
    let slashes = 0;
    while (slashes < end && line[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 1 && index < physical.length - 1) {
      joined += line.slice(0, end - 1);
      continue;
    }
    joined += line;
    let plain = '';
    for (let at = 0; at < joined.length; at += 1) {
      if (joined[at] === '\\') at += 1;
      plain += joined[at] ?? '';
    }
    lines.push(plain);
    joined = '';
  }
  return lines;
}

function readPair(
  line: string,
): { readonly key: string; readonly value: string; readonly end: number } | undefined {
  let at = 0;
  const skip = (): void => {
    while (isSpace(line[at])) at += 1;
  };
  skip();
  const keyFrom = at;
  while (isKeyLetter(line[at])) at += 1;
  const key = line.slice(keyFrom, at);
  if (key === '') return undefined;
  skip();
  if (line[at] !== undefined && '-*+/'.includes(line[at] ?? '')) at += 1;
  if (line[at] !== '=') return undefined;
  at += 1;
  skip();
  if (line[at] === '"') {
    const close = line.indexOf('"', at + 1);
    if (close > 0 && (close + 1 === line.length || isSpace(line[close + 1])))
      return { key, value: line.slice(at + 1, close), end: close + 1 };
  }
  const valueFrom = at;
  while (at < line.length && !isSpace(line[at])) at += 1;
  if (at === valueFrom) return undefined;
  return { key, value: line.slice(valueFrom, at), end: at };
}
