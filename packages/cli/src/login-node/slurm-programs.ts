/** Evidence from Slurm's own programs: their --json prints the objects of slurmrestd, with the rights of who runs them. */
import { type EvidenceSet, forbidden, known, unknown } from '@slurm-operator/advice';
import { adapters, isApiVersion, type SlurmJob } from '@slurm-operator/slurm';

export interface Ran {
  readonly ok: boolean;
  readonly out: string;
  readonly err: string;
}

/** Runs commands at the same time; the results in their order. */
export type RunPrograms = (commands: readonly (readonly string[])[]) => readonly Ran[];

const general = {
  jobs: ['squeue', '--all', '--states=all', '--json'],
  slurmNodes: ['scontrol', 'show', 'nodes', '--json'],
  partitions: ['scontrol', 'show', 'partitions', '--json'],
  reservations: ['scontrol', 'show', 'reservations', '--json'],
  licenses: ['scontrol', 'show', 'licenses', '--json'],
  diag: ['sdiag', '--json'],
} as const;

/** What sacctmgr and sacct say where no accounting is configured. */
const noAccounting = /not running a supported accounting_storage|accounting storage is disabled/i;

type Piece = keyof typeof general | 'associations' | 'endedJob';
type Adapter = (typeof adapters)[keyof typeof adapters];
type Answer = Readonly<Record<string, unknown>>;

const read: Readonly<Record<Piece, (answer: Answer, adapter: Adapter) => unknown>> = {
  jobs: (answer, { job }) => list(answer, 'jobs').map(job),
  slurmNodes: (answer, { node }) => list(answer, 'nodes').map(node),
  partitions: (answer, { partition }) => list(answer, 'partitions').map(partition),
  reservations: (answer, { reservation }) => list(answer, 'reservations').map(reservation),
  licenses: (answer, { license }) => list(answer, 'licenses').map(license),
  diag: (answer, { diag }) => diag(answer['statistics']),
  associations: (answer, { association }) => list(answer, 'associations').map(association),
  endedJob: (answer, { accountingJob }) => list(answer, 'jobs').map(accountingJob).at(0),
};

/** Without `user`, accounting is not asked. */
export function askSlurm(run: RunPrograms, now: number, user?: string): EvidenceSet {
  const commands: Partial<Record<Piece, readonly string[]>> = {
    ...general,
    ...(user === undefined
      ? {}
      : { associations: ['sacctmgr', 'show', 'associations', `user=${user}`, '--json'] }),
  };
  return gather(run, commands, now);
}

/** The record of a job that slurmctld may have forgotten. */
export const askAccounting = (run: RunPrograms, now: number, job: string): EvidenceSet =>
  gather(run, { endedJob: ['sacct', '--jobs', job, '--json'] }, now);

function gather(
  run: RunPrograms,
  commands: Partial<Record<Piece, readonly string[]>>,
  now: number,
): EvidenceSet {
  const entries = Object.entries(commands) as [Piece, readonly string[]][];
  const results = run(entries.map(([, command]) => command));
  return Object.fromEntries(
    entries.flatMap(([piece, command], index) => {
      const ran = results[index];
      // There is nothing to know then.
      if (noAccounting.test(ran?.err ?? '')) return [];
      return [[piece, pieceOf(piece, command.slice(0, 3).join(' '), ran, now)]];
    }),
  );
}

function pieceOf(piece: Piece, name: string, ran: Ran | undefined, now: number) {
  if (ran === undefined || !ran.ok) return failed(name, ran?.err ?? '');
  try {
    const answer = JSON.parse(ran.out) as Answer;
    const [error] = list(answer, 'errors') as { readonly description?: string; readonly error?: string }[];
    if (error !== undefined) return failed(name, error.description ?? error.error ?? 'an error without text');
    return known(read[piece](answer, adapterOf(answer)), now);
  } catch (error) {
    return unknown(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function failed(name: string, message: string) {
  const [line = ''] = message.split('\n').filter((one) => one.trim() !== '');
  return /access|permission denied|not authorized|privilege/i.test(line)
    ? forbidden('run', name, `${name}: ${line}`)
    : unknown(`${name}: ${line === '' ? 'it failed without a message' : line}`);
}

/** `data_parser/v0.0.45`, as every answer says of itself. */
function adapterOf(answer: Answer): Adapter {
  const { plugin } = (answer['meta'] ?? {}) as { readonly plugin?: { readonly data_parser?: string } };
  const version = (plugin?.data_parser ?? '').replace(/^.*\//, '');
  if (!isApiVersion(version))
    throw new Error(`it prints ${version === '' ? 'no version' : version}, which this program cannot read`);
  return adapters[version];
}

function list(answer: Answer, key: string): readonly unknown[] {
  const found = answer[key] ?? (key === 'errors' ? [] : undefined);
  if (!Array.isArray(found)) throw new Error(`its answer has no list "${key}"`);
  return found;
}

/** Waiting jobs of one user; of an array only one. */
export function waitingJobs(evidence: EvidenceSet, user: string): readonly SlurmJob[] {
  const jobs = evidence.jobs?.kind === 'known' ? evidence.jobs.value : [];
  const seen = new Set<number>();
  return jobs.filter((job) => {
    const key = job.arrayJobId ?? job.id;
    if (job.user !== user || !job.state.includes('PENDING') || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
