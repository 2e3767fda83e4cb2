/** exec, and the commands of Slurm that are passed on to slurmctld's container. */
import { exec as execInPod } from '@slurm-operator/kube';
import type { Command } from '../command-line/command.ts';
import { CliError } from '../errors.ts';
import type { CommandLine } from '../line.ts';
import type { Session } from '../session/session.ts';
import { oneDaemon } from './daemons.ts';
import { execInPods } from './needs.ts';

const longest = 24 * 3_600_000;

async function execute(session: Session, word: string, command: readonly string[]): Promise<number> {
  const target = await oneDaemon(session, word);
  const client = await session.client();
  const interactive = process.stdin.isTTY && process.stdout.isTTY && session.line.has('tty');
  if (interactive) process.stdin.setRawMode(true);
  try {
    const piped = !process.stdin.isTTY && session.line.has('stdin');
    const { exitCode } = await execInPod(client, { namespace: target.namespace, name: target.pod }, command, {
      container: target.container,
      stdout: process.stdout,
      stderr: process.stderr,
      tty: interactive,
      deadline: longest,
      signal: session.signal,
      ...(interactive || piped ? { stdin: process.stdin } : {}),
    });
    return exitCode;
  } finally {
    if (interactive) process.stdin.setRawMode(false);
    // Otherwise an open standard input keeps the process alive.
    if (interactive || session.line.has('stdin')) process.stdin.destroy();
  }
}

async function run(session: Session, line: CommandLine): Promise<number> {
  const [word, ...more] = line.args;
  const command = line.rest.length > 0 ? line.rest : more;
  if (word === undefined || command.length === 0)
    throw new CliError('Name a node or daemon and a command: kubectl slurm exec gpu-3 -- nvidia-smi');
  return execute(session, word, command);
}

export const exec: Command = {
  name: 'exec',
  group: 'reach',
  summary: 'Run a command on a node, in slurmctld or on a login node',
  usage: 'NODE|slurmctld|slurmdbd|login -- COMMAND…',
  flags: [
    { name: 'tty', short: 't', description: 'Interactive, with a terminal.' },
    { name: 'stdin', short: 'i', description: 'Pass standard input on.' },
  ],
  examples: ['exec gpu-3 -- nvidia-smi', 'exec slurmctld -- sacctmgr show users', 'exec login -t -- bash'],
  formats: [],
  role: 'admin',
  needs: execInPods,
  completes: 'nodes',
  run,
};

const programs = {
  scontrol: 'show job 4711',
  sinfo: '-R',
  squeue: '--start',
  sacct: '--allusers --starttime today',
  sacctmgr: 'show associations',
} as const;

/** They run in slurmctld's container, as its user: an administrator's way, and said so. */
export const passedOn: readonly Command[] = Object.entries(programs).map(([name, example]) => ({
  name,
  group: 'reach',
  summary: `Run ${name} in the container of slurmctld`,
  usage: '[ARGUMENTS…]',
  flags: [],
  examples: [`${name} ${example}`, `${name} -n hpc -- ${example}`],
  role: 'admin',
  passesOn: true,
  needs: execInPods,
  run: (session, line) => execute(session, 'slurmctld', [name, ...line.rest]),
}));
