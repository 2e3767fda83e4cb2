/** logs: of a daemon by its name, or everything about one job in the order of time. */
import { podLog, podLogStream } from '@slurm-operator/kube';
import { expandHostlist } from '@slurm-operator/slurm';
import type { Command } from '../command-line/command.ts';
import { CliError, exitCode, toExit } from '../errors.ts';
import type { CommandLine } from '../line.ts';
import type { Session } from '../session/session.ts';
import { type DaemonPod, daemons, findDaemon } from './daemons.ts';
import { jobId } from './jobs.ts';
import { reachSlurm, readLogs } from './needs.ts';

const mostNodes = 32;

/** `90`, `90s`, `15m`, `2h`, `1d`. */
export function seconds(text: string, flag: string): number {
  const found = /^(\d+)([smhd]?)$/.exec(text);
  const unit = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }[found?.[2] ?? ''];
  if (found === null || unit === undefined)
    throw new CliError(`${flag} must be a time such as 90s, 15m or 2h, not "${text}".`);
  return Number(found[1]) * unit;
}

async function run(session: Session, line: CommandLine): Promise<number> {
  const wanted = line.text('job');
  if (wanted !== undefined) return jobLog(session, line, jobId(wanted));
  const [word] = line.args;
  if (word === undefined)
    throw new CliError(`Name a daemon: ${daemons.join(', ')} or slurmd/NODE; or give --job ID.`);
  const found = await findDaemon(session, word);
  const since = line.text('since');
  const tail = line.text('tail');
  const follow = line.has('follow');
  const options = {
    ...(since === undefined ? {} : { sinceSeconds: seconds(since, '--since') }),
    ...(tail === undefined ? {} : { tailLines: whole(tail) }),
    ...(line.has('previous') ? { previous: true } : {}),
    ...(line.has('timestamps') ? { timestamps: true } : {}),
    signal: session.signal,
  };
  const client = await session.client();
  const prefix = (each: DaemonPod) => (found.length > 1 ? `${session.paint('quiet', `${each.pod}|`)} ` : '');
  await Promise.all(
    found.map(async (each) => {
      const stream = await podLogStream(
        client,
        { namespace: each.namespace, name: each.pod },
        { ...options, container: each.container, follow },
      );
      let left = '';
      for await (const chunk of stream) {
        const lines = (left + (chunk as Buffer).toString('utf8')).split('\n');
        left = lines.pop() ?? '';
        for (const text of lines) session.io.out(`${prefix(each)}${text}\n`);
      }
      if (left !== '') session.io.out(`${prefix(each)}${left}\n`);
    }),
  );
  return exitCode.good;
}

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new CliError(`--tail must be a number of lines, not "${text}".`);
  return Number(text);
}

/** Lines that name a job, as slurmctld and slurmd write it. */
export const mentions = (id: string): RegExp =>
  new RegExp(String.raw`(JobId=|StepId=|job[ =]|Job |job_id[:=]? ?|\[)${id}(?!\d)`, 'i');

async function jobLog(session: Session, line: CommandLine, id: string): Promise<number> {
  const slurm = await session.slurm();
  const options = { signal: session.signal };
  const job = await slurm.jobs.get(id, options);
  const record =
    job ?? (await slurm.accounting.job(Number(id.split('_')[0]), options).catch(() => undefined));
  if (record === undefined)
    throw new CliError(`Slurm does not know job ${id}: it ended long ago, or it never existed.`);
  const nodes =
    record.nodes === '' || record.nodes === 'None assigned'
      ? []
      : expandHostlist(record.nodes).slice(0, mostNodes);
  const sources = [...(await findDaemon(session, 'slurmctld'))];
  for (const node of nodes)
    sources.push(
      ...(await findDaemon(session, `slurmd/${node}`).catch((error: unknown) => {
        session.note(`No log of ${node}: ${toExit(error).message}`);
        return [];
      })),
    );
  const client = await session.client();
  const since = line.text('since');
  const pattern = mentions(String(record.id));
  const found = await Promise.all(
    sources.map(async ({ namespace, pod, container }) => {
      const text = await podLog(
        client,
        { namespace, name: pod },
        {
          container,
          timestamps: true,
          ...(since === undefined ? {} : { sinceSeconds: seconds(since, '--since') }),
          ...options,
        },
      );
      return text
        .split('\n')
        .filter((each) => pattern.test(each))
        .map((each) => ({
          at: each.slice(0, each.indexOf(' ')),
          pod,
          text: each.slice(each.indexOf(' ') + 1),
        }));
    }),
  );
  const lines = found.flat().toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  if (lines.length === 0)
    session.note(
      `The logs of slurmctld${nodes.length > 0 ? ` and ${nodes.join(', ')}` : ''} do not mention job ${id} (any more).`,
    );
  const width = Math.max(0, ...lines.map(({ pod }) => pod.length));
  for (const { pod, text } of lines)
    session.io.out(`${session.paint('quiet', pod.padEnd(width))}  ${text}\n`);
  return exitCode.good;
}

export const logs: Command = {
  name: 'logs',
  group: 'reach',
  summary: 'Print the log of a daemon, or the lines of all daemons about one job',
  usage: `${daemons.join('|')}|slurmd/NODE | --job ID`,
  flags: [
    { name: 'follow', short: 'f', description: 'Go on as new lines come.' },
    { name: 'since', value: 'TIME', description: 'Only lines of the last 90s, 15m, 2h …' },
    { name: 'tail', value: 'LINES', description: 'Only the last lines.' },
    { name: 'previous', description: 'Of the container before its last restart.' },
    { name: 'timestamps', description: 'Begin each line with its time.' },
    {
      name: 'job',
      value: 'ID',
      description: 'Lines about this job from slurmctld and its nodes, in the order of time.',
    },
  ],
  examples: ['logs slurmctld -f', 'logs slurmd/gpu-3 --since 15m', 'logs --job 4711'],
  formats: [],
  slurm: 'optional',
  role: 'viewer',
  needs: [...readLogs, ...reachSlurm],
  completes: 'daemons',
  run,
};
