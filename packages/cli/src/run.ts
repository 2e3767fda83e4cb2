/** From words to an exit code. Never throws. */
import { setMaxListeners } from 'node:events';
import { printable } from '@slurm-operator/advice';
import type { ClusterConfig } from '@slurm-operator/kube';
import { completions } from './command-line/completion.ts';
import { commandHelp, groupHelp, overview } from './command-line/help.ts';
import { nearest, parse } from './command-line/parse.ts';
import { commands } from './commands/index.ts';
import { CliError, exitCode, toExit } from './errors.ts';
import type { Io } from './io.ts';
import { guardedIo } from './output/print.ts';
import { wantsColours } from './output/style.ts';
import { Session } from './session/session.ts';

export interface RunOptions {
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly config?: ClusterConfig;
}

export async function run(
  words: readonly string[],
  { io: given, signal, config }: RunOptions,
): Promise<number> {
  let io = guardedIo(given, false);
  // Every request listens to it.
  setMaxListeners(0, signal);
  try {
    if (words[0] === '__complete')
      return await completions(words.slice(1), commands, {
        io,
        signal,
        ...(config === undefined ? {} : { config }),
      });
    const line = parse(words, commands);
    const { command } = line;
    if (command === undefined) {
      const [first] = line.words;
      if (first === undefined || first === 'help' || line.has('help')) {
        io.out(helpOf(first === 'help' ? line.words.slice(1) : line.words));
        return exitCode.good;
      }
      throw new CliError(unknownCommand(line.words));
    }
    if (line.has('help')) {
      io.out(commandHelp(command));
      return exitCode.good;
    }
    io = guardedIo(given, wantsColours(given.env, given.isTty, line.has('no-color')));
    await using session = new Session({
      io,
      line,
      signal,
      scope: command.group === 'nodes' && command.role === 'admin' ? 'nodes' : 'jobs',
      ...(config === undefined ? {} : { config }),
    });
    return await command.run(session, line);
  } catch (error) {
    if (signal.aborted) return 130;
    const { message, exitCode: code } = toExit(error);
    io.err(`kubectl slurm: ${printable(message)}\n`);
    if ((io.env['KUBECTL_SLURM_DEBUG'] ?? '') !== '' && error instanceof Error)
      io.err(`${error.stack ?? ''}\n`);
    return code;
  }
}

function helpOf(words: readonly string[]): string {
  const [first = ''] = words;
  const wanted = commands.find(({ name }) => name === words.join(' '));
  if (wanted !== undefined) return commandHelp(wanted);
  if (first === '') return overview(commands);
  if (commands.some(({ name }) => name.startsWith(`${first} `))) return groupHelp(first, commands);
  throw new CliError(unknownCommand(words));
}

function unknownCommand(words: readonly string[]): string {
  const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
  if (group.length > 0)
    return `${words[0]} needs one of: ${group.map(({ name }) => name.split(' ')[1]).join(', ')}.`;
  const close = nearest(
    words[0] ?? '',
    commands.map(({ name }) => name),
  );
  return `unknown command "${words[0]}"${close === undefined ? '.' : `; did you mean "${close}"?`} See kubectl slurm --help.`;
}
