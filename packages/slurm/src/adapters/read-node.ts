/** Converts a node of any API version to the model. Pure. */
import { ProtocolError } from '../errors.ts';
import type { SlurmNode } from '../model/node.ts';
import { commonList, commonState, commonText } from '../wire/common-values.ts';
import { listOf, numberOf, timeOf, type WireNumber } from '../wire/values.ts';

/** The fields of a node that the model needs; every API version's node fits it. */
export interface WireNode {
  readonly name?: string;
  readonly hostname?: string;
  readonly address?: string;
  readonly port?: number;
  readonly state?: readonly string[];
  readonly reason?: string;
  readonly reason_set_by_user?: string;
  readonly reason_changed_at?: WireNumber;
  readonly comment?: string;
  readonly extra?: string;
  readonly features?: readonly string[];
  readonly active_features?: readonly string[];
  readonly partitions?: readonly string[];
  readonly reservation?: string;
  readonly topology?: string;
  readonly gres?: string;
  readonly gres_used?: string;
  readonly cpus?: number;
  readonly alloc_cpus?: number;
  readonly real_memory?: number;
  readonly alloc_memory?: number;
  readonly free_mem?: WireNumber;
  readonly cpu_load?: number;
  readonly instance_id?: string;
  readonly instance_type?: string;
  readonly architecture?: string;
  readonly operating_system?: string;
  readonly version?: string;
  readonly boot_time?: WireNumber;
  readonly slurmd_start_time?: WireNumber;
  readonly last_busy?: WireNumber;
  readonly resume_after?: WireNumber;
}

export function readNode(raw: WireNode): SlurmNode {
  // Without name or state the whole list is refused: an incomplete list would be wrong.
  if (typeof raw.name !== 'string' || raw.name === '')
    throw new ProtocolError('Slurm listed a node without a name');
  if (!Array.isArray(raw.state))
    throw new ProtocolError(`Slurm listed node ${raw.name} without a list of states`);
  return {
    name: raw.name,
    hostname: raw.hostname ?? '',
    address: raw.address ?? '',
    port: raw.port,
    state: commonState(raw.state as string[]),
    reason: raw.reason ?? '',
    reasonSetBy: commonText(raw.reason_set_by_user ?? ''),
    reasonSetAt: timeOf(raw.reason_changed_at),
    comment: raw.comment ?? '',
    extra: raw.extra ?? '',
    features: commonList(listOf(raw.features)),
    activeFeatures: commonList(listOf(raw.active_features)),
    partitions: commonList(listOf(raw.partitions)),
    reservation: commonText(raw.reservation ?? ''),
    topology: commonText(raw.topology ?? ''),
    gres: commonText(raw.gres ?? ''),
    gresUsed: commonText(raw.gres_used ?? ''),
    cpus: raw.cpus ?? 0,
    allocatedCpus: raw.alloc_cpus ?? 0,
    memory: raw.real_memory ?? 0,
    allocatedMemory: raw.alloc_memory ?? 0,
    freeMemory: numberOf(raw.free_mem),
    cpuLoad: raw.cpu_load,
    instanceId: raw.instance_id ?? '',
    instanceType: commonText(raw.instance_type ?? ''),
    architecture: commonText(raw.architecture ?? ''),
    operatingSystem: commonText(raw.operating_system ?? ''),
    version: commonText(raw.version ?? ''),
    bootedAt: timeOf(raw.boot_time),
    slurmdStartedAt: timeOf(raw.slurmd_start_time),
    lastBusyAt: timeOf(raw.last_busy),
    resumeAfter: timeOf(raw.resume_after),
  };
}
