/** submit: a batch script over REST; --test says where it would fit without submitting it. */
import { readFile } from 'node:fs/promises';
import {
  formatTimeLimit,
  hasEnded,
  isSchedulable,
  type JobSubmission,
  parseTimeLimit,
  type SlurmNode,
  type SlurmPartition,
  Timeout,
  Unavailable,
} from '@slurm-operator/slurm';
import type { Command } from '../command-line/command.ts';
import { CliError, exitCode } from '../errors.ts';
import type { CommandLine } from '../line.ts';
import type { Session } from '../session/session.ts';
import { timeoutOf, waitUntil } from '../session/wait-until.ts';
import { readBatchScript } from './batch-script.ts';
import { reachSlurm } from './needs.ts';

async function scriptOf(session: Session, file: string | undefined): Promise<JobSubmission> {
  if (file === undefined) throw new CliError('Give the file of a batch script, or - for standard input.');
  const text =
    file === '-'
      ? await session.io.readStdin()
      : await readFile(file, 'utf8').catch((cause: unknown) => {
          throw new CliError(`${file} cannot be read.`, { cause });
        });
  return readBatchScript(text, file === '-' ? 'the script' : file);
}

export interface Fit {
  readonly partition: string;
  readonly fits: boolean;
  readonly now: number;
  readonly why: string;
}

/** Where the job could run at all, and on how many nodes now. */
export function fits(
  job: JobSubmission,
  partitions: readonly SlurmPartition[],
  nodes: readonly SlurmNode[],
): readonly Fit[] {
  const wanted = job.nodes ?? 1;
  const cpus = Math.ceil(((job.tasks ?? wanted) * (job.cpusPerTask ?? 1)) / wanted);
  const gpus = Number(/gpu(?::[A-Za-z]\w*)?[:=](\d+)/.exec(job.tresPerNode ?? '')?.[1] ?? 0);
  const nodeGpus = (node: SlurmNode) => Number(/gpu(?::[\w-]+)?:(\d+)/.exec(node.gres)?.[1] ?? 0);
  const limit = job.timeLimit === undefined ? undefined : parseTimeLimit(job.timeLimit);
  return partitions
    .filter(({ name, isDefault }) =>
      job.partition === undefined
        ? isDefault || partitions.length === 1
        : job.partition.split(',').includes(name),
    )
    .map(({ name, maxTime, state }) => {
      const inside = nodes.filter((node) => node.partitions.includes(name));
      const large = inside.filter(
        (node) =>
          node.cpus >= cpus &&
          node.memory >= (job.memory ?? 0) &&
          nodeGpus(node) >= gpus &&
          (job.constraints === undefined ||
            !/^[\w.-]+$/.test(job.constraints) ||
            node.activeFeatures.includes(job.constraints)),
      );
      const free = large.filter(
        ({ state: is, allocatedCpus, cpus: all }) => isSchedulable(is) && all - allocatedCpus >= cpus,
      );
      const tooLong = typeof maxTime === 'number' && (limit === 'infinite' || (limit ?? 0) > maxTime);
      const why = !state.includes('UP')
        ? `the partition is ${state.join('+')}`
        : tooLong
          ? `it allows ${formatTimeLimit(maxTime)}, the job asks for ${formatTimeLimit(limit ?? 0)}`
          : large.length < wanted
            ? `${large.length} of its ${inside.length} nodes ${large.length === 1 ? 'is' : 'are'} large enough, the job asks for ${wanted}`
            : '';
      return { partition: name, fits: why === '', now: free.length, why };
    });
}

async function test(session: Session, job: JobSubmission): Promise<number> {
  const slurm = await session.slurm();
  const options = { signal: session.signal };
  const [partitions, nodes] = await Promise.all([slurm.partitions.list(options), slurm.nodes.list(options)]);
  const found = fits(job, partitions.items, nodes.items);
  if (found.length === 0)
    throw new CliError(
      job.partition === undefined
        ? 'No partition is the default: name one with #SBATCH --partition.'
        : `There is no partition ${job.partition}: there are ${partitions.items.map(({ name }) => name).join(', ')}.`,
    );
  const names = found.filter(({ fits: does }) => does).map(({ partition }) => `partition/${partition}`);
  if (!session.printObject('Fit', { items: found }, names))
    for (const { partition, fits: does, now, why } of found) {
      const wanted = job.nodes ?? 1;
      session.io.out(
        does
          ? `${session.paint('good', '✔')} ${partition}: it fits; ${now >= wanted ? 'it could start now' : `${now} of ${wanted} nodes are free now`}.\n`
          : `${session.paint('bad', '✖')} ${partition}: it cannot run: ${why}.\n`,
      );
    }
  return found.some(({ fits: does }) => does) ? exitCode.good : exitCode.findings;
}

/** What Slurm says of an accepted job, once: it often says the same twice, and as if it had failed. */
export const remarks = (texts: readonly string[]): readonly string[] => [
  ...new Set(
    texts
      .map((text) => text.replace(/^Job submission resulted in non-zero return code: */, '').trim())
      .filter((text) => text !== ''),
  ),
];

/** slurmctld forgets a job some time after its end: how it ended is in the accounting then. */
async function endOf(session: Session, id: number): Promise<number> {
  const slurm = await session.slurm();
  const record = await slurm.accounting.job(id, { signal: session.signal }).catch((error: unknown) => {
    if (error instanceof Timeout || error instanceof Unavailable) throw error;
    return undefined;
  });
  if (record === undefined)
    throw new CliError(
      `Slurm no longer knows job ${id}, and the accounting has no record of it: how it ended is not known.`,
    );
  session.note(`job/${id} ${record.state.join('+')}`);
  return record.state.includes('COMPLETED') ? exitCode.good : exitCode.findings;
}

async function run(session: Session, line: CommandLine): Promise<number> {
  const job = await scriptOf(session, line.args[0]);
  if (line.has('test')) return test(session, job);
  const timeoutSeconds = timeoutOf(session);
  const slurm = await session.slurm();
  const { user } = await session.openSlurm();
  if (user !== undefined && line.text('slurm-user') === undefined)
    throw new CliError(
      'Say who the job belongs to: --slurm-user NAME, or export SLURM_JWT with a token of your own.',
    );
  if (user !== undefined) await session.confirm(`submit ${line.args[0]} as Slurm user ${user}`);
  const { id, message, warnings } = await slurm.jobs.submit(job, { signal: session.signal });
  for (const text of remarks([message, ...warnings])) session.note(text);
  session.printDone([{ object: `job/${id}`, result: 'submitted' }]);
  if (!line.has('wait')) return exitCode.good;
  let told = '';
  const look = async () => {
    const now = await slurm.jobs.get(id, { signal: session.signal });
    if (now === undefined) return endOf(session, id);
    const text = `${now.state.join('+')}${now.state.includes('PENDING') ? ` (${now.stateReason})` : now.nodes === '' ? '' : ` on ${now.nodes}`}`;
    if (text !== told) session.note(`job/${id} ${text}`);
    told = text;
    if (!hasEnded(now.state)) return undefined;
    return now.state.includes('COMPLETED') ? exitCode.good : exitCode.findings;
  };
  return waitUntil<number>(session, look, {
    everyMs: 1_000,
    timeoutSeconds,
    tooLong: () => new CliError(`After ${timeoutSeconds} s, job ${id} has not ended; it continues.`),
  });
}

export const submit: Command = {
  name: 'submit',
  group: 'jobs',
  summary: 'Submit a batch script, or test where it would fit',
  usage: 'FILE|-',
  flags: [
    {
      name: 'test',
      description: 'Submit nothing: say which partition it fits, and whether it could start now.',
    },
    { name: 'wait', short: 'w', description: 'Return when the job ended.' },
    { name: 'timeout', value: 'SECONDS', description: 'How long to wait. Default: a day.' },
  ],
  examples: ['submit train.sh', 'submit train.sh --test', 'submit train.sh --slurm-user alice --wait'],
  slurm: 'required',
  role: 'user',
  needs: reachSlurm,
  run,
};
