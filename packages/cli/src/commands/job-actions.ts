/** cancel, hold, release, requeue. */
import { NotFound, type SlurmClient } from '@slurm-operator/slurm';
import type { Command } from '../command-line/command.ts';
import { CliError, exitCode, toExit } from '../errors.ts';
import type { CommandLine } from '../line.ts';
import type { Done, Session } from '../session/session.ts';
import { jobId } from './jobs.ts';
import { reachSlurm } from './needs.ts';

type Options = { readonly signal: AbortSignal };

interface Action {
  readonly name: string;
  readonly summary: string;
  /** `cancelled`. */
  readonly done: string;
  readonly act: (slurm: SlurmClient, id: string, options: Options) => Promise<'accepted' | 'ended' | 'gone'>;
}

const actions: readonly Action[] = [
  {
    name: 'cancel',
    summary: 'End jobs',
    done: 'cancelled',
    act: async (slurm, id, options) => (await slurm.jobs.cancel(id, options)).outcome,
  },
  {
    name: 'hold',
    summary: 'Keep pending jobs from starting',
    done: 'held',
    act: async (slurm, id, options) => (await slurm.jobs.hold(id, options)).outcome,
  },
  {
    name: 'release',
    summary: 'Let held jobs start',
    done: 'released',
    act: async (slurm, id, options) => (await slurm.jobs.release(id, options)).outcome,
  },
  {
    name: 'requeue',
    summary: 'Stop running jobs and put them back into the queue',
    done: 'requeued',
    act: async (slurm, id, options) => (await slurm.jobs.requeue(id, options)).outcome,
  },
];

async function run(action: Action, session: Session, line: CommandLine): Promise<number> {
  if (line.args.length === 0) throw new CliError(`Give the numbers of the jobs to ${action.name}.`);
  const ids = line.args.map((word) => jobId(word));
  const slurm = await session.slurm();
  const { user } = await session.openSlurm();
  await session.confirm(
    `${action.name} ${ids.length === 1 ? 'job' : 'jobs'} ${ids.join(', ')}${user === undefined ? '' : ` as Slurm user ${user}`}`,
  );
  let code: number = exitCode.good;
  const done: Done[] = [];
  for (const id of ids)
    try {
      const outcome = await action.act(slurm, id, { signal: session.signal });
      if (outcome === 'accepted') done.push({ object: `job/${id}`, result: action.done });
      else {
        session.io.err(`job ${id}: ${outcome === 'ended' ? 'it ended already' : 'Slurm does not know it'}\n`);
        code = Math.max(code, exitCode.failed);
      }
    } catch (error) {
      // cancel says it in its outcome, the others as an error.
      const exit =
        error instanceof NotFound
          ? { message: 'Slurm does not know it', exitCode: exitCode.failed }
          : toExit(error);
      session.io.err(`job ${id}: ${exit.message}\n`);
      code = Math.max(code, exit.exitCode);
    }
  session.printDone(done);
  return code;
}

export const jobActions: readonly Command[] = actions.map((action) => ({
  name: action.name,
  group: 'jobs',
  summary: action.summary,
  usage: 'ID…',
  flags: [],
  examples: [`${action.name} 4711`, `${action.name} 4711 4712 --yes`],
  slurm: 'required',
  role: 'user',
  needs: reachSlurm,
  completes: 'jobs',
  run: (session, line) => run(action, session, line),
}));
