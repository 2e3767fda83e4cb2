/** What a simulated Slurm is made of. */

export interface SimulatedNode {
  readonly name: string;
  /** Where a dynamic node's slurmd registered from. */
  address: string;
  cpus: number;
  memory: number;
  features: string[];
  comment: string;
  extra: string;
  topology: string;
  gres: string;
  reason: string;
  reasonSetBy: string;
  reasonSetAt: number;
  /** DRAIN, DOWN, DYNAMIC_NORM …: everything but what follows from jobs. */
  flags: Set<string>;
  down: boolean;
  /** Its slurmd answers. */
  alive: boolean;
  slurmdEndedAt: number;
  /** After an undrain or resume Slurm asks its slurmd first; until then it does not respond. */
  silentUntil: number;
  slurmdStartedAt: number;
  lastBusyAt: number;
  /** CPUs in use, as computed for the last list; the answer for one node tells these. */
  listedCpus: number;
  /** Grows with every change that a list would show. */
  revision: number;
}

export interface SimulatedJob {
  readonly id: number;
  name: string;
  user: string;
  partition: string;
  state: string;
  /** It waits for its nodes, and is listed as running all the same. */
  configuring: boolean;
  reason: string;
  comment: string;
  held: boolean;
  nodes: string[];
  wantedNodes: number;
  requiredNodes: string[];
  cpusPerNode: number;
  account: string;
  /** As slurmctld writes it, one entry per node: `gpu:2(IDX:0-1)`. */
  gresDetail: string[];
  submittedAt: number;
  startedAt: number;
  endedAt: number;
  /** Minutes; undefined for no limit. */
  timeLimit: number | undefined;
  /** How long its script works, and the code it ends with. */
  durationMs: number;
  exitCode: number;
  restarts: number;
  requeueable: boolean;
  directory: string;
  revision: number;
  /** Its place in a heterogeneous job. */
  readonly hetOffset?: number;
}

export interface SimulatedReservation {
  readonly name: string;
  nodes: string[];
  users: string[];
  flags: string[];
  startsAt: number;
  endsAt: number;
}

/** A node whose slurmd registered just now. `index` gives it an address of its own. */
export function newNode(
  name: string,
  index: number,
  now: number,
  spec: Partial<SimulatedNode>,
): SimulatedNode {
  return {
    name,
    address: `10.${80 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`,
    cpus: 4,
    memory: 4000,
    features: [],
    comment: '',
    extra: '',
    topology: '',
    gres: '',
    reason: '',
    reasonSetBy: '',
    reasonSetAt: 0,
    flags: new Set(['DYNAMIC_NORM']),
    down: false,
    alive: true,
    slurmdEndedAt: 0,
    silentUntil: 0,
    slurmdStartedAt: now,
    lastBusyAt: now,
    listedCpus: 0,
    revision: 0,
    ...spec,
  };
}

/** A job that was submitted just now and, by default runs without a time limit. */
export function newJob(id: number, now: number, fields: Partial<SimulatedJob>): SimulatedJob {
  return {
    name: 'job',
    user: 'slurm',
    partition: 'all',
    state: 'PENDING',
    configuring: false,
    reason: 'None',
    comment: '',
    held: false,
    nodes: [],
    wantedNodes: 1,
    requiredNodes: [],
    cpusPerNode: 1,
    account: '',
    gresDetail: [],
    submittedAt: now,
    startedAt: 0,
    endedAt: 0,
    timeLimit: undefined,
    durationMs: Number.POSITIVE_INFINITY,
    exitCode: 0,
    restarts: 0,
    requeueable: true,
    directory: '/tmp',
    ...fields,
    id,
    revision: 0,
  };
}

export const jobStates = ({ state, configuring }: SimulatedJob): string[] =>
  configuring ? [state, 'CONFIGURING'] : [state];
