/** Words into a command, its flags and arguments. Pure. */
import { CliError } from '../errors.ts';
import type { CommandLine } from '../line.ts';
import { type Command, type Flag, globalFlags } from './command.ts';

export interface Parsed extends CommandLine {
  readonly command: Command | undefined;
  /** The words that named no command, for a message or the help of a group (`rollout`). */
  readonly words: readonly string[];
}

export function parse(words: readonly string[], commands: readonly Command[]): Parsed {
  const values = new Map<string, string[]>();
  const plain: string[] = [];
  const rest: string[] = [];
  let command: Command | undefined;
  const known = () => [...globalFlags, ...(command?.flags ?? [])];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (word === '--') {
      rest.push(...words.slice(index + 1));
      break;
    }
    if (word.startsWith('-') && word !== '-') {
      const equals = word.indexOf('=');
      const name = word.slice(0, equals < 0 ? undefined : equals);
      if (command?.passesOn === true && !isOurs(name)) {
        rest.push(...words.slice(index));
        break;
      }
      const { flag, glued } = findFlag(name, known(), command);
      if (flag.value === undefined) {
        if (equals >= 0 && !/^(true|false)$/.test(word.slice(equals + 1)))
          throw new CliError(`${name} is a switch and takes no value.`);
        if (word.slice(equals + 1) !== 'false' || equals < 0) values.set(flag.name, ['']);
        continue;
      }
      const value = equals >= 0 ? word.slice(equals + 1) : (glued ?? words[(index += 1)]);
      if (value === undefined) throw new CliError(`${name} needs a value: ${flag.value}.`);
      if (flag.choices !== undefined && !flag.choices.includes(value))
        throw new CliError(`${name} must be one of ${flag.choices.join(', ')}, not "${value}".`);
      values.set(flag.name, flag.repeatable === true ? [...(values.get(flag.name) ?? []), value] : [value]);
      continue;
    }
    plain.push(word);
    command = findCommand(plain, commands) ?? command;
    // What follows belongs to another program.
    if (command?.passesOn === true && plain.length > command.name.split(' ').length) {
      rest.push(
        ...plain.splice(command.name.split(' ').length),
        ...words.slice(index + 1).filter((one, at) => at > 0 || one !== '--'),
      );
      break;
    }
  }
  const output = values.get('output')?.at(-1);
  if (
    command?.formats !== undefined &&
    output !== undefined &&
    !command.formats.some((one) => one === output)
  )
    throw new CliError(
      command.formats.length === 0
        ? `${command.name} prints text as it comes: it takes no --output.`
        : `${command.name} has no output as ${output}: use ${command.formats.join(', ')}.`,
    );
  const depth = command?.name.split(' ').length ?? 0;
  return {
    command,
    words: plain,
    args: plain.slice(depth),
    rest,
    text: (flag) => values.get(flag)?.at(-1),
    texts: (flag) => values.get(flag) ?? [],
    has: (flag) => values.has(flag),
  };
}

/** The command that the words name; the longest name wins. */
function findCommand(words: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands
    .filter(({ name }) => name.split(' ').every((part, index) => part === words[index]))
    .toSorted((a, b) => b.name.length - a.name.length)
    .at(0);
}

function findFlag(
  name: string,
  flags: readonly Flag[],
  command: Command | undefined,
): { readonly flag: Flag; readonly glued?: string } {
  const found = flags.find((flag) => isNamed(flag, name));
  if (found !== undefined) return { flag: found };
  // -nslurm
  const glued = flags.find(
    (flag) =>
      flag.short !== undefined &&
      flag.value !== undefined &&
      !name.startsWith('--') &&
      name.startsWith(`-${flag.short}`),
  );
  if (glued !== undefined) return { flag: glued, glued: name.slice(2) };
  const close = nearest(
    name,
    flags.map((flag) => `--${flag.name}`),
  );
  throw new CliError(
    `unknown flag ${name}${close === undefined ? '.' : `; did you mean ${close}?`} See kubectl slurm ${command === undefined ? '' : `${command.name} `}--help.`,
  );
}

/** Of a command that is passed on to a program of Slurm: where it runs is said to us, `-s`, `-o` and the like to the program. */
const isOurs = (name: string): boolean =>
  name === '-n' ||
  (name.startsWith('--') &&
    globalFlags.some((flag) => isNamed(flag, name)) &&
    !['--output', '--no-headers', '--yes'].includes(name));

/** `--namespace` or `-n`. */
const isNamed = (flag: Flag, name: string): boolean =>
  `--${flag.name}` === name || (flag.short !== undefined && `-${flag.short}` === name);

/** The known word that was most likely meant; `undefined` when none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((each) => ({ each, distance: distance(word, each) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.ceil(word.length / 3) ? best.each : undefined;
}

/** Insertions, deletions and replacements from one word to the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(to).entries())
      next.push(
        Math.min(
          (row[column + 1] ?? 0) + 1,
          (next[column] ?? 0) + 1,
          (row[column] ?? 0) + (letter === other ? 0 : 1),
        ),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}
