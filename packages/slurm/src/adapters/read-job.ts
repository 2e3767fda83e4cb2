/** Reads a job, as any API version writes it, into the model. Pure. */
import { ProtocolError } from '../errors.ts';
import type { SlurmJob, SlurmJobState } from '../model/job.ts';
import { commonList } from '../wire/common-values.ts';
import { limitOf, numberOf, timeOf, type WireNumber } from '../wire/values.ts';

interface WireExit {
  readonly return_code?: WireNumber;
  readonly signal?: { readonly id?: WireNumber };
}

/** The fields of a job that the model needs; every API version's job fits it. */
export interface WireJob {
  readonly job_id?: number;
  readonly name?: string;
  readonly user_name?: string;
  readonly account?: string;
  readonly partition?: string;
  readonly qos?: string;
  readonly job_state?: readonly string[];
  readonly state_reason?: string;
  readonly state_description?: string;
  readonly nodes?: string;
  readonly required_nodes?: string;
  readonly node_count?: WireNumber;
  readonly cpus?: WireNumber;
  readonly priority?: WireNumber;
  readonly hold?: boolean;
  readonly submit_time?: WireNumber;
  readonly eligible_time?: WireNumber;
  readonly last_sched_evaluation?: WireNumber;
  readonly start_time?: WireNumber;
  readonly end_time?: WireNumber;
  readonly time_limit?: WireNumber;
  readonly exit_code?: WireExit;
  readonly comment?: string;
  readonly extra?: string;
  readonly current_working_directory?: string;
  readonly standard_output?: string;
  readonly stdout_expanded?: string;
  readonly array_job_id?: WireNumber;
  readonly array_task_id?: WireNumber;
  readonly array_task_string?: string;
  readonly restart_cnt?: number;
  readonly tres_req_str?: string;
  readonly tres_alloc_str?: string;
  readonly tres_per_job?: string;
  readonly tres_per_node?: string;
  readonly tres_per_socket?: string;
  readonly tres_per_task?: string;
  readonly gres_detail?: readonly string[];
  readonly memory_per_node?: WireNumber;
  readonly dependency?: string;
  readonly features?: string;
  readonly licenses?: string;
  readonly resv_name?: string;
  readonly admin_comment?: string;
  readonly requeue?: boolean;
}

export function readJob(raw: WireJob): SlurmJob {
  if (typeof raw.job_id !== 'number') throw new ProtocolError('Slurm listed a job without a number');
  if (!Array.isArray(raw.job_state))
    throw new ProtocolError(`Slurm listed job ${raw.job_id} without a list of states`);
  const arrayJobId = numberOf(raw.array_job_id);
  return {
    id: raw.job_id,
    name: raw.name ?? '',
    user: raw.user_name ?? '',
    account: raw.account ?? '',
    partition: raw.partition ?? '',
    qos: raw.qos ?? '',
    state: raw.job_state,
    stateReason: raw.state_reason ?? '',
    stateDescription: raw.state_description ?? '',
    nodes: raw.nodes ?? '',
    requiredNodes: raw.required_nodes ?? '',
    nodeCount: numberOf(raw.node_count),
    cpus: numberOf(raw.cpus),
    priority: numberOf(raw.priority),
    held: raw.hold === true,
    submittedAt: timeOf(raw.submit_time),
    eligibleAt: timeOf(raw.eligible_time),
    consideredAt: timeOf(raw.last_sched_evaluation),
    startedAt: timeOf(raw.start_time),
    endedAt: timeOf(raw.end_time),
    timeLimit: limitOf(raw.time_limit),
    exitCode: numberOf(raw.exit_code?.return_code),
    exitSignal: numberOf(raw.exit_code?.signal?.id),
    comment: raw.comment ?? '',
    extra: raw.extra ?? '',
    workingDirectory: raw.current_working_directory ?? '',
    standardOutput: raw.standard_output ?? '',
    ...(raw.stdout_expanded === undefined || raw.stdout_expanded === ''
      ? {}
      : { outputFile: raw.stdout_expanded }),
    arrayJobId: arrayJobId === 0 ? undefined : arrayJobId,
    arrayTaskId: numberOf(raw.array_task_id),
    ...(raw.array_task_string === undefined || raw.array_task_string === ''
      ? {}
      : { arrayTasks: raw.array_task_string }),
    restarts: raw.restart_cnt ?? 0,
    tresRequested: raw.tres_req_str ?? '',
    tresAllocated: raw.tres_alloc_str ?? '',
    tresPer: [raw.tres_per_job, raw.tres_per_node, raw.tres_per_socket, raw.tres_per_task]
      .filter((one) => one !== undefined && one !== '')
      .join(','),
    tresPerNode: raw.tres_per_node ?? '',
    gresDetail: commonList(raw.gres_detail ?? []),
    memoryPerNode: numberOf(raw.memory_per_node),
    dependency: raw.dependency ?? '',
    constraints: raw.features ?? '',
    licenses: raw.licenses ?? '',
    reservation: raw.resv_name ?? '',
    adminComment: raw.admin_comment ?? '',
    requeueable: raw.requeue ?? true,
  };
}

/** A component of a heterogeneous job is `55+1`: its own number, then its place in the job. No endpoint finds it by that id. */
const hetOffset = /\+\d+$/;

export function readJobState(raw: {
  readonly job_id?: string | number;
  readonly state?: readonly string[];
}): SlurmJobState {
  if (raw.job_id === undefined || !Array.isArray(raw.state))
    throw new ProtocolError('Slurm listed a job state without its job or state');
  return { id: String(raw.job_id).replace(hetOffset, ''), state: raw.state };
}
