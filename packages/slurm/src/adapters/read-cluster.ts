/** Reads partitions, reservations, pings and diagnostics, as any API version writes them, into the model. Pure. */
import { ProtocolError } from '../errors.ts';
import type {
  ControllerPing,
  SlurmDiag,
  SlurmLicense,
  SlurmPartition,
  SlurmReservation,
} from '../model/cluster.ts';
import { limitOf, listOf, timeOf, type WireNumber } from '../wire/values.ts';

interface WirePartition {
  readonly name?: string;
  readonly nodes?: { readonly configured?: string; readonly total?: number };
  readonly node_sets?: string;
  readonly cpus?: { readonly total?: number; readonly task_binding?: number | readonly string[] };
  readonly partition?: { readonly state?: readonly string[] };
  readonly maximums?: { readonly time?: WireNumber; readonly nodes?: WireNumber };
  readonly defaults?: { readonly time?: WireNumber };
  readonly tres?: { readonly configured?: string };
  readonly flags?: readonly string[];
}

/** `flags` exists only in newer versions; before them nothing says which partition is the default. */
export function readPartition(raw: WirePartition): SlurmPartition {
  if (typeof raw.name !== 'string') throw new ProtocolError('Slurm listed a partition without a name');
  const binding = raw.cpus?.task_binding;
  return {
    name: raw.name,
    state: listOf(raw.partition?.state),
    nodes: raw.nodes?.configured ?? '',
    nodeCount: raw.nodes?.total ?? 0,
    nodeSets: raw.node_sets ?? '',
    cpuCount: raw.cpus?.total ?? 0,
    isDefault: raw.flags?.includes('DEFAULT') ?? false,
    maxTime: limitOf(raw.maximums?.time),
    defaultTime: limitOf(raw.defaults?.time),
    maxNodes: limitOf(raw.maximums?.nodes),
    tres: raw.tres?.configured ?? '',
    // A number (a bit mask) up to v0.0.44; names from v0.0.45.
    taskBinding: typeof binding === 'object' ? binding : [],
  };
}

interface WireReservation {
  readonly name?: string;
  readonly node_list?: string;
  readonly node_count?: number;
  readonly partition?: string;
  readonly users?: string;
  readonly accounts?: string;
  readonly flags?: readonly string[];
  readonly features?: string;
  readonly start_time?: WireNumber;
  readonly end_time?: WireNumber;
}

export function readReservation(raw: WireReservation): SlurmReservation {
  if (typeof raw.name !== 'string') throw new ProtocolError('Slurm listed a reservation without a name');
  return {
    name: raw.name,
    nodes: raw.node_list ?? '',
    nodeCount: raw.node_count ?? 0,
    partition: raw.partition ?? '',
    users: listOf(raw.users),
    accounts: listOf(raw.accounts),
    flags: listOf(raw.flags),
    features: raw.features ?? '',
    startsAt: timeOf(raw.start_time),
    endsAt: timeOf(raw.end_time),
  };
}

/** Up to v0.0.41 only `pinged` and `mode` exist. */
export function readOldPing(raw: {
  readonly hostname?: string;
  readonly pinged?: string;
  readonly mode?: string;
  readonly latency?: number;
}): ControllerPing {
  return {
    hostname: raw.hostname ?? '',
    responding: raw.pinged === 'UP',
    primary: raw.mode === 'primary',
    latency: raw.latency,
    status: undefined,
  };
}

/** From v0.0.42 on `responding` and `primary`; `status` from v0.0.45. */
export function readPing(raw: {
  readonly hostname?: string;
  readonly responding?: boolean;
  readonly primary?: boolean;
  readonly latency?: number;
  readonly status?: string;
}): ControllerPing {
  return {
    hostname: raw.hostname ?? '',
    responding: raw.responding === true,
    primary: raw.primary === true,
    latency: raw.latency,
    status: raw.status,
  };
}

interface WireDiag {
  readonly req_time?: WireNumber;
  readonly req_time_start?: WireNumber;
  readonly server_thread_count?: number;
  readonly agent_queue_size?: number;
  readonly dbd_agent_queue_size?: number;
  readonly jobs_submitted?: number;
  readonly jobs_started?: number;
  readonly jobs_completed?: number;
  readonly jobs_canceled?: number;
  readonly jobs_failed?: number;
  readonly jobs_pending?: number;
  readonly jobs_running?: number;
  readonly schedule_cycle_last?: number;
  readonly schedule_cycle_mean?: number;
  readonly bf_cycle_last?: number;
  readonly rpcs_by_message_type?: readonly {
    readonly message_type?: string;
    readonly count?: number;
    readonly total_time?: number;
  }[];
  readonly schedule_queue_length?: number;
  readonly bf_last_depth?: number;
}

export function readDiag(raw: WireDiag | undefined): SlurmDiag {
  return {
    time: timeOf(raw?.req_time),
    startedAt: timeOf(raw?.req_time_start),
    serverThreads: raw?.server_thread_count ?? 0,
    agentQueue: raw?.agent_queue_size ?? 0,
    databaseQueue: raw?.dbd_agent_queue_size ?? 0,
    jobs: {
      submitted: raw?.jobs_submitted ?? 0,
      started: raw?.jobs_started ?? 0,
      completed: raw?.jobs_completed ?? 0,
      canceled: raw?.jobs_canceled ?? 0,
      failed: raw?.jobs_failed ?? 0,
      pending: raw?.jobs_pending ?? 0,
      running: raw?.jobs_running ?? 0,
    },
    scheduleCycleLast: raw?.schedule_cycle_last ?? 0,
    scheduleCycleMean: raw?.schedule_cycle_mean ?? 0,
    backfillCycleLast: raw?.bf_cycle_last ?? 0,
    scheduleQueueLength: raw?.schedule_queue_length ?? 0,
    backfillLastDepth: raw?.bf_last_depth ?? 0,
    rpcs: (raw?.rpcs_by_message_type ?? []).map((rpc) => ({
      type: rpc.message_type ?? '',
      count: rpc.count ?? 0,
      totalTime: rpc.total_time ?? 0,
    })),
  };
}

export function readLicense(raw: {
  readonly LicenseName?: string;
  readonly Total?: number;
  readonly Used?: number;
  readonly Free?: number;
  readonly Reserved?: number;
  readonly Remote?: boolean;
}): SlurmLicense {
  return {
    name: raw.LicenseName ?? '',
    total: raw.Total ?? 0,
    used: raw.Used ?? 0,
    free: raw.Free ?? 0,
    reserved: raw.Reserved ?? 0,
    remote: raw.Remote === true,
  };
}
