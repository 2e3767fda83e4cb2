/**
 * Command lines as Go programs read them: `--name value`, `--name=value`, one dash or two, and `--name` or `--name=false`
 * for switches. Written by hand because the flags of existing installations must go on working.
 */

/** What a person who starts a program got wrong. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
  readonly code = 'BAD_FLAG';
}

export interface Flag<T> {
  /** As it is written on a command line. */
  readonly default: string;
  readonly about: string;
  /** A switch needs no value. */
  readonly isSwitch?: boolean;
  /** Throws {@link FlagError} with what is wrong, without the flag's name. */
  readonly read: (text: string) => T;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<F extends Flags> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never };

/** Undefined: the program was asked for help. */
export function parseFlags<F extends Flags>(flags: F, args: readonly string[]): FlagValues<F> | undefined {
  const given = new Map<string, string>();
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    const match = /^--?(?<name>[a-z0-9][a-z0-9-]*)(?:=(?<value>.*))?$/s.exec(word);
    if (match?.groups === undefined)
      throw new FlagError(`"${word}" is not a flag: use --name=value; see --help`);
    const { name = '', value } = match.groups;
    if (name === 'help' || name === 'h') return undefined;
    const flag = flags[name];
    if (flag === undefined) throw new FlagError(`unknown flag --${name}; see --help`);
    if (value !== undefined) given.set(name, value);
    else if (flag.isSwitch === true) given.set(name, 'true');
    else {
      at += 1;
      const next = args[at];
      if (next === undefined) throw new FlagError(`--${name} needs a value: ${flag.about}`);
      given.set(name, next);
    }
  }
  const values = Object.entries(flags).map(([name, flag]) => {
    const text = given.get(name) ?? flag.default;
    try {
      return [name, flag.read(text)];
    } catch (error) {
      if (!(error instanceof FlagError)) throw error;
      throw new FlagError(`--${name} is "${text}": ${error.message}`, { cause: error });
    }
  });
  return Object.fromEntries(values) as FlagValues<F>;
}

export function usage(title: string, flags: Flags): string {
  const width = Math.max(...Object.keys(flags).map((name) => name.length));
  const lines = Object.entries(flags).map(([name, { default: standard, about }]) => {
    const said = standard === '' || standard === 'false' ? '' : ` (default ${standard})`;
    return `  --${name.padEnd(width)}  ${about}${said}`;
  });
  return [title, '', ...lines].join('\n');
}
