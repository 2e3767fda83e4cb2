/**
 * The `#SBATCH` lines of a script, as fields of the form. slurmrestd does not read them, so the dashboard does: what it cannot pass on is
 * said, because a job without it would be another job. Pure; the page shows what the server will do.
 */
export interface ScriptOptions {
  /** By the name of the field. A later line wins, as in sbatch. */
  readonly fields: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

type Kind = 'value' | 'flag';
interface Option {
  readonly long: string;
  readonly short?: string;
  readonly kind?: Kind;
  /** The field and its value; undefined: the value is wrong. */
  readonly set: (value: string) => readonly [string, string] | undefined;
}

const field =
  (name: string) =>
  (value: string): readonly [string, string] => [name, value];

const options: readonly Option[] = [
  { long: 'job-name', short: 'J', set: field('name') },
  { long: 'partition', short: 'p', set: field('partition') },
  { long: 'account', short: 'A', set: field('account') },
  { long: 'qos', short: 'q', set: field('qos') },
  { long: 'nodes', short: 'N', set: field('nodes') },
  { long: 'ntasks', short: 'n', set: field('tasks') },
  { long: 'ntasks-per-node', set: field('tasksPerNode') },
  { long: 'cpus-per-task', short: 'c', set: field('cpusPerTask') },
  { long: 'mem', set: (value) => named('memory', megabytes(value)) },
  { long: 'mem-per-cpu', set: (value) => named('memoryPerCpu', megabytes(value)) },
  { long: 'time', short: 't', set: field('timeLimit') },
  { long: 'chdir', short: 'D', set: field('directory') },
  { long: 'constraint', short: 'C', set: field('constraints') },
  { long: 'array', short: 'a', set: field('array') },
  { long: 'output', short: 'o', set: field('standardOutput') },
  { long: 'error', short: 'e', set: field('standardError') },
  { long: 'dependency', short: 'd', set: field('dependency') },
  { long: 'reservation', set: field('reservation') },
  { long: 'nodelist', short: 'w', set: field('requiredNodes') },
  { long: 'exclude', short: 'x', set: field('excludedNodes') },
  { long: 'comment', set: field('comment') },
  { long: 'licenses', short: 'L', set: field('licenses') },
  { long: 'gres', set: (value) => ['tresPerNode', gres(value)] },
  { long: 'gpus-per-node', set: (value) => ['tresPerNode', `gres/gpu:${value}`] },
  { long: 'gpus', short: 'G', set: (value) => ['tresPerJob', `gres/gpu:${value}`] },
  { long: 'hold', short: 'H', kind: 'flag', set: () => ['hold', 'yes'] },
  { long: 'requeue', kind: 'flag', set: () => ['requeue', 'yes'] },
  { long: 'no-requeue', kind: 'flag', set: () => ['requeue', 'no'] },
  { long: 'parsable', kind: 'flag', set: () => undefined },
];
/** Says something about sbatch itself, not about the job. */
const meaningless = new Set(['parsable']);
const mostLines = 200;

export function scriptOptions(script: string): ScriptOptions {
  const fields: Record<string, string> = {};
  const problems: string[] = [];
  for (const { number, words } of optionLines(script)) {
    for (let place = 0; place < words.length; place += 1) {
      const word = words[place] ?? '';
      const read = readWord(word);
      if (read === undefined) {
        problems.push(`Line ${number}: ${shown(word)} is no option of sbatch that can be passed on here.`);
        // What follows may be its value.
        if (words[place + 1]?.startsWith('-') === false) place += 1;
        continue;
      }
      const { option, name } = read;
      let { value } = read;
      if (option.kind === 'flag') value = '';
      else if (value === undefined) {
        place += 1;
        value = words[place];
      }
      if (value === undefined) {
        problems.push(`Line ${number}: ${name} has no value.`);
        continue;
      }
      if (meaningless.has(option.long)) continue;
      const set = option.set(value);
      if (set === undefined) problems.push(`Line ${number}: ${name} ${shown(value)} cannot be read.`);
      else fields[set[0]] = set[1];
    }
  }
  return { fields, problems };
}

/** As sbatch: until the first line that is neither empty nor a comment. */
function* optionLines(
  script: string,
): Generator<{ readonly number: number; readonly words: readonly string[] }> {
  let found = 0;
  for (const [at, line] of script.split('\n').entries()) {
    if (line.trim() !== '' && !line.startsWith('#')) return;
    if (!/^#SBATCH\s/.test(line)) continue;
    found += 1;
    if (found > mostLines) return;
    yield { number: at + 1, words: wordsOf(line.slice('#SBATCH'.length)) };
  }
}

/** Blanks separate, quotes keep together, a `#` after a blank begins a comment. */
function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === '#' && word === undefined) break;
    else if (character === '\\' && at + 1 < text.length) {
      at += 1;
      word = (word ?? '') + (text[at] ?? '');
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}

/** `--nodes=2`, `--nodes`, `-N2`, `-N`. */
function readWord(
  word: string,
): { readonly option: Option; readonly name: string; readonly value: string | undefined } | undefined {
  const long = /^--([a-z-]+)(?:=(.*))?$/s.exec(word);
  if (long !== null) {
    const option = options.find((one) => one.long === long[1]);
    return option && { option, name: `--${option.long}`, value: long[2] };
  }
  const short = /^-([A-Za-z])=?(.*)$/s.exec(word);
  const option = short === null ? undefined : options.find((one) => one.short === short[1]);
  if (option === undefined) return undefined;
  const rest = short?.[2] ?? '';
  // A flag with something behind it is several flags at once.
  if (option.kind === 'flag' && rest !== '') return undefined;
  return { option, name: `-${option.short}`, value: rest === '' ? undefined : rest };
}

const named = (name: string, value: string | undefined): readonly [string, string] | undefined =>
  value === undefined ? undefined : [name, value];

/** `4G` → `4096`. Without a unit megabytes. */
function megabytes(text: string): string | undefined {
  const match = /^(\d{1,12})([KMGT]?)B?$/i.exec(text);
  if (match === null) return undefined;
  const factor = { K: 1 / 1024, M: 1, G: 1024, T: 1024 * 1024 }[(match[2] ?? '').toUpperCase()] ?? 1;
  return String(Math.ceil(Number(match[1]) * factor));
}

/** `gpu:2,shard:1` → `gres/gpu:2,gres/shard:1`. */
function gres(text: string): string {
  return text
    .split(',')
    .map((one) => (one.startsWith('gres/') ? one : `gres/${one.replace(/^gres:/, '')}`))
    .join(',');
}

const shown = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
