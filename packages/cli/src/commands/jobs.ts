/** jobs and job: the queue with sentences. */
import { type Context, known, moment, printable, quote, span } from '@slurm-operator/advice';
import { expandHostlist, formatTimeLimit, hasEnded, jobDeadline, type SlurmJob } from '@slurm-operator/slurm';
import type { Command } from '../command-line/command.ts';
import { CliError, exitCode } from '../errors.ts';
import { gatherEvidence } from '../gather/evidence.ts';
import type { CommandLine } from '../line.ts';
import { about } from '../output/about.ts';
import { findingsText } from '../output/findings.ts';
import type { Tone } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import type { Session } from '../session/session.ts';
import { reachSlurm, readEvidence } from './needs.ts';

interface JobRow {
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly account: string;
  readonly partition: string;
  readonly state: string;
  readonly time: string;
  readonly limit: string;
  readonly nodes: string;
  readonly info: string;
  readonly tone: Tone;
}

const tones: Readonly<Record<string, Tone>> = {
  RUNNING: 'good',
  PENDING: 'warning',
  FAILED: 'bad',
  TIMEOUT: 'bad',
  NODE_FAIL: 'bad',
  OUT_OF_MEMORY: 'bad',
};

/** As squeue shows it, and every command takes it: `4711_3` for a task of an array. */
const shownId = ({ id, arrayJobId, arrayTaskId }: SlurmJob): string =>
  arrayJobId !== undefined && arrayTaskId !== undefined ? `${arrayJobId}_${arrayTaskId}` : String(id);

function rowOf(job: SlurmJob, session: Session): JobRow {
  const { now, timeZone } = { now: session.io.now(), timeZone: session.io.timeZone };
  const [state = ''] = job.state;
  const pending = job.state.includes('PENDING');
  const end = jobDeadline(job);
  const since = pending ? job.submittedAt : job.startedAt;
  const until = hasEnded(job.state) ? job.endedAt : now;
  return {
    id: shownId(job),
    name: job.name,
    user: job.user,
    account: job.account,
    partition: job.partition,
    state: job.state.join('+'),
    time: since === undefined || until === undefined ? '' : span(until - since),
    limit: job.timeLimit === undefined ? '' : formatTimeLimit(job.timeLimit),
    nodes: job.nodes === '' ? String(job.nodeCount ?? '') : job.nodes,
    info: pending
      ? `${job.stateReason}${job.startedAt !== undefined && job.startedAt > now ? `, expected ${moment(job.startedAt, { now, timeZone })}` : ''}`
      : typeof end === 'number'
        ? `ends by ${moment(end, { now, timeZone })}`
        : hasEnded(job.state) && job.exitCode !== undefined && job.exitCode !== 0
          ? `exit code ${job.exitCode}`
          : '',
    tone: tones[state] ?? 'plain',
  };
}

const columns: readonly Column<JobRow>[] = [
  { name: 'JOB', value: ({ id }) => id },
  { name: 'NAME', value: ({ name }) => quote(name, 24) },
  { name: 'USER', value: ({ user }) => user },
  { name: 'ACCOUNT', value: ({ account }) => account, wide: true },
  { name: 'PARTITION', value: ({ partition }) => partition },
  { name: 'STATE', value: ({ state }) => state, tone: ({ tone }) => tone },
  { name: 'FOR', value: ({ time }) => time },
  { name: 'LIMIT', value: ({ limit }) => limit, wide: true },
  { name: 'NODES', value: ({ nodes }) => nodes },
  { name: 'INFO', value: ({ info }) => info },
];

async function listJobs(session: Session, line: CommandLine): Promise<number> {
  if (line.args.length > 0)
    throw new CliError(`jobs takes no argument; for one job: kubectl slurm job ${line.args[0]}`);
  const slurm = await session.slurm();
  const { items } = await slurm.jobs.list({ signal: session.signal });
  const state = line.text('state');
  const wanted = state === undefined ? undefined : stateOf(state);
  const user = line.text('user');
  const partition = line.text('partition');
  const chosen = items
    .filter((job) => user === undefined || job.user === user)
    .filter((job) => partition === undefined || job.partition.split(',').includes(partition))
    .filter((job) =>
      wanted === undefined ? line.has('all') || !hasEnded(job.state) : job.state.includes(wanted),
    )
    .toSorted((a, b) => rank(a) - rank(b) || a.id - b.id);
  session.print(
    'Job',
    chosen.map((job) => rowOf(job, session)),
    columns,
    ({ id }) => `job/${id}`,
    'No job matches.',
  );
  if (line.has('why') && session.format === 'table') await explainWaiting(session, chosen);
  return exitCode.good;
}

/** The states of a job, and their short forms in squeue. */
const states: Readonly<Record<string, string>> = {
  BF: 'BOOT_FAIL',
  CA: 'CANCELLED',
  CD: 'COMPLETED',
  CF: 'CONFIGURING',
  CG: 'COMPLETING',
  DL: 'DEADLINE',
  F: 'FAILED',
  NF: 'NODE_FAIL',
  OOM: 'OUT_OF_MEMORY',
  PD: 'PENDING',
  PR: 'PREEMPTED',
  R: 'RUNNING',
  RF: 'REQUEUE_FED',
  RH: 'REQUEUE_HOLD',
  RQ: 'REQUEUED',
  S: 'SUSPENDED',
  SE: 'SPECIAL_EXIT',
  ST: 'STOPPED',
  TO: 'TIMEOUT',
};

function stateOf(text: string): string {
  const word = text.toUpperCase();
  const found = states[word] ?? Object.values(states).find((state) => state === word);
  if (found === undefined)
    throw new CliError(`--state must be one of ${Object.values(states).join(', ')}, not "${text}".`);
  return found;
}

const rank = (job: SlurmJob): number =>
  job.state.includes('RUNNING') ? 0 : job.state.includes('PENDING') ? 1 : 2;
const mostExplained = 10;

/** One sentence for each of the first waiting jobs. */
async function explainWaiting(session: Session, jobs: readonly SlurmJob[]): Promise<void> {
  const waiting = jobs.filter(({ state }) => state.includes('PENDING')).slice(0, mostExplained);
  if (waiting.length === 0) return;
  const evidence = await gatherEvidence(session, { installation: false, logs: false });
  const { io, paint } = session;
  const { diagnose } = await import('../gather/diagnosis.ts');
  io.out('\n');
  for (const job of waiting) {
    const { findings } = diagnose(evidence, await contextOf(session, job.id));
    const mine = findings.find(({ subject }) => subject.kind === 'Job' && subject.name === String(job.id));
    io.out(
      `${paint('strong', String(job.id))}  ${mine === undefined ? printable(job.stateReason) : [mine.says, ...mine.because].join(' ')}\n`,
    );
  }
}

async function contextOf(session: Session, job: number): Promise<Context> {
  const { metadata } = await session.cluster();
  return {
    now: session.io.now(),
    namespace: metadata.namespace,
    cluster: metadata.name,
    timeZone: session.io.timeZone,
    job,
  };
}

async function showJob(session: Session, line: CommandLine): Promise<number> {
  const id = jobId(line.args[0]);
  const slurm = await session.slurm();
  const options = { signal: session.signal };
  const job = await slurm.jobs.get(id, options);
  if (job === undefined) {
    const record = await slurm.accounting.job(Number(id), options).catch(() => undefined);
    if (record === undefined)
      throw new CliError(`Slurm does not know job ${id}: it ended long ago, or it never existed.`);
    if (!session.printObject('AccountingJob', record, [`job/${record.id}`]))
      session.io.out(
        details(
          [
            ['job', `${record.id} · ${record.name}`],
            ['user', `${record.user}, account ${record.account}`],
            ['state', record.state.join('+')],
            ['nodes', record.nodes],
            ['ran', record.elapsedSeconds === undefined ? '' : span(record.elapsedSeconds * 1000)],
            ['exit code', String(record.exitCode ?? '')],
            ['from', 'the accounting: slurmctld has forgotten it'],
          ],
          session,
        ),
      );
    return exitCode.good;
  }
  if (session.printObject('Job', job, [`job/${shownId(job)}`])) return exitCode.good;
  const time = (at: number | undefined) =>
    at === undefined ? '' : moment(at, { now: session.io.now(), timeZone: session.io.timeZone });
  const row = rowOf(job, session);
  session.io.out(
    details(
      [
        ['job', `${shownId(job)} · ${job.name}`],
        [
          'user',
          `${job.user}${job.account === '' ? '' : `, account ${job.account}`}${job.qos === '' ? '' : `, QOS ${job.qos}`}`,
        ],
        [
          'state',
          row.state + (job.stateReason === '' || job.stateReason === 'None' ? '' : ` (${job.stateReason})`),
          row.tone,
        ],
        ['partition', job.partition],
        ['nodes', job.nodes || `${job.nodeCount ?? 1} wanted`],
        [
          'asks for',
          job.tresRequested || [`${job.cpus ?? 1} CPUs`, job.tresPer].filter((one) => one !== '').join(', '),
        ],
        ['time limit', row.limit],
        ['submitted', time(job.submittedAt)],
        [job.state.includes('PENDING') ? 'expected' : 'started', time(job.startedAt)],
        [
          hasEnded(job.state) ? 'ended' : 'ends by',
          time(hasEnded(job.state) ? job.endedAt : numberOr(jobDeadline(job))),
        ],
        ['exit code', hasEnded(job.state) ? String(job.exitCode ?? '') : ''],
        ['directory', job.workingDirectory],
        ['output', outputOf(job)],
        ['dependency', job.dependency],
        ['features', job.constraints],
        ['comment', job.comment],
      ],
      session,
    ),
  );
  const evidence = {
    ...(await gatherEvidence(session, { installation: false, logs: false })),
    endedJob: known(undefined, session.io.now()),
  };
  const { diagnose } = await import('../gather/diagnosis.ts');
  const findings = about(
    { kind: 'job', name: String(job.id) },
    diagnose(evidence, await contextOf(session, job.id)),
  );
  if (findings.length > 0)
    session.io.out(
      `\n${findingsText(findings, session.paint, session.io.columns, session.line.text('namespace'))}`,
    );
  return exitCode.good;
}

/** A path alone says nothing where every worker has files of its own. */
function outputOf(job: SlurmJob): string {
  const path = job.outputFile ?? job.standardOutput;
  const first = job.nodes === '' ? undefined : expandHostlist(job.nodes)[0];
  return path === '' || path === '/dev/null' || first === undefined ? path : `${path} on ${first}`;
}

const numberOr = (end: unknown): number | undefined => (typeof end === 'number' ? end : undefined);

type Detail = readonly [name: string, value: string, tone?: Tone];

function details(pairs: readonly Detail[], session: Session): string {
  return pairs
    .filter(([, value]) => value !== '')
    .map(
      ([name, value, tone = 'plain']) =>
        `${session.paint('quiet', name.padEnd(11))} ${session.paint(tone, printable(value))}\n`,
    )
    .join('');
}

/** `4711` or `4711_3`. */
export function jobId(word: string | undefined): string {
  const id = (word ?? '').replace(/^job\//, '');
  if (!/^\d+(_\d+)?$/.test(id))
    throw new CliError(
      word === undefined ? 'Give the number of a job.' : `"${word}" is not the number of a job.`,
    );
  return id;
}

export const jobs: Command = {
  name: 'jobs',
  group: 'jobs',
  summary: 'List jobs: for how long, where, until when, and what they wait for',
  usage: '',
  flags: [
    { name: 'user', short: 'u', value: 'USER', description: 'Only jobs of this user.' },
    { name: 'partition', short: 'p', value: 'NAME', description: 'Only jobs of this partition.' },
    {
      name: 'state',
      short: 't',
      value: 'STATE',
      description: 'Only jobs in this state, such as PENDING or PD.',
    },
    { name: 'all', short: 'a', description: 'Also jobs that ended a short time ago.' },
    { name: 'why', description: 'Explain what the first ten waiting jobs wait for.' },
  ],
  examples: ['jobs', 'jobs -u alice -t PD --why', 'jobs -o wide', 'jobs -o name'],
  slurm: 'required',
  role: 'user',
  needs: [...reachSlurm, ...readEvidence],
  run: listJobs,
};

export const job: Command = {
  name: 'job',
  group: 'jobs',
  summary: 'Show one job, and what it waits for',
  usage: 'ID',
  flags: [],
  examples: ['job 4711', 'job 4711_3 -o yaml'],
  slurm: 'required',
  role: 'user',
  needs: [...reachSlurm, ...readEvidence],
  completes: 'jobs',
  run: showJob,
};
