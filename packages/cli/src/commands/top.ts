/** top: who and what uses the cluster. */
import type { SlurmJob } from '@slurm-operator/slurm';
import type { Command } from '../command-line/command.ts';
import { CliError, exitCode } from '../errors.ts';
import type { CommandLine } from '../line.ts';
import type { Column } from '../output/table.ts';
import type { Session } from '../session/session.ts';
import { reachSlurm } from './needs.ts';

interface UseRow {
  readonly name: string;
  readonly running: number;
  readonly pending: number;
  readonly cpus: number;
  readonly gpus: number;
  readonly nodes: number;
}

const kinds = { users: 'user', accounts: 'account', partitions: 'partition' } as const;

const gpusOf = (tres: string): number => Number(/gres\/gpu=(\d+)/.exec(tres)?.[1] ?? 0);

export function useBy(jobs: readonly SlurmJob[], by: 'user' | 'account' | 'partition'): readonly UseRow[] {
  const sum = (list: readonly SlurmJob[], of: (job: SlurmJob) => number) =>
    list.reduce((total, job) => total + of(job), 0);
  return [...Map.groupBy(jobs, (job) => job[by])]
    .map(([name, mine]) => {
      const running = mine.filter(({ state }) => state.includes('RUNNING'));
      return {
        name: name === '' ? '(none)' : name,
        running: running.length,
        pending: mine.filter(({ state }) => state.includes('PENDING')).length,
        cpus: sum(running, ({ cpus }) => cpus ?? 0),
        gpus: sum(running, ({ tresAllocated, tresRequested }) => gpusOf(tresAllocated || tresRequested)),
        nodes: sum(running, ({ nodeCount }) => nodeCount ?? 0),
      };
    })
    .filter(({ running, pending }) => running + pending > 0)
    .toSorted((a, b) => b.gpus - a.gpus || b.cpus - a.cpus || b.pending - a.pending);
}

async function run(session: Session, line: CommandLine): Promise<number> {
  const word = line.args[0] ?? 'users';
  if (!(word in kinds))
    throw new CliError(
      `top shows ${Object.keys(kinds).join(', ')}, not "${word}"; for nodes: kubectl slurm nodes.`,
    );
  const kind = word as keyof typeof kinds;
  const { items } = await (await session.slurm()).jobs.list({ signal: session.signal });
  const rows = useBy(items, kinds[kind]);
  const number = (name: string, of: (row: UseRow) => number): Column<UseRow> => ({
    name,
    value: (row) => of(row).toLocaleString('en-US'),
    right: true,
  });
  session.print(
    'Use',
    rows,
    [
      { name: kinds[kind].toUpperCase(), value: ({ name }) => name },
      number('RUNNING', ({ running }) => running),
      number('PENDING', ({ pending }) => pending),
      number('CPUS', ({ cpus }) => cpus),
      ...(rows.some(({ gpus }) => gpus > 0) ? [number('GPUS', ({ gpus }) => gpus)] : []),
      number('NODES', ({ nodes }) => nodes),
    ],
    ({ name }) => `${kinds[kind]}/${name}`,
    'No job runs or waits.',
  );
  return exitCode.good;
}

export const top: Command = {
  name: 'top',
  group: 'look',
  summary: 'Show what users, accounts or partitions use now',
  usage: '[users|accounts|partitions]',
  flags: [],
  examples: ['top', 'top accounts', 'top partitions -o json'],
  slurm: 'required',
  role: 'user',
  needs: reachSlurm,
  run,
};
