/** Submits, reads, changes and cancels jobs. */
import { errorNumber } from '../connection/answer.ts';
import type { Connection } from '../connection/connection.ts';
import { Forbidden, InvalidInput, NotFound, ProtocolError, Refused } from '../errors.ts';
import { parseTimeLimit } from '../meaning/time-limit.ts';
import { recordOfTask } from '../model/array-tasks.ts';
import {
  type JobSubmission,
  type JobUpdate,
  jobKey,
  type SlurmJob,
  type SlurmJobState,
} from '../model/job.ts';
import { wireNumber } from '../wire/values.ts';
import { type CallOptions, callOptions, Endpoint, type Listed, type WriteResult } from './endpoint.ts';

export interface Submitted {
  readonly id: number;
  /** The message of a job_submit plugin. */
  readonly message: string;
  readonly warnings: readonly string[];
}

/** `ended`: the job had ended already. */
export interface CancelResult {
  readonly outcome: 'accepted' | 'ended' | 'gone';
  readonly warnings: readonly string[];
}

/** root also by number. */
const isAdministrator = (user: string): boolean => user === 'slurm' || user === 'root' || /^0+$/.test(user);

export class Jobs {
  readonly #endpoint: Endpoint;

  constructor(connection: Connection) {
    this.#endpoint = new Endpoint(connection);
  }

  /** All jobs with all fields: 8 KB each, so the default limit of a response is reached with 32,000. `states` is a hundred times cheaper. */
  list(options?: CallOptions & { readonly maxAnswerBytes?: number }): Promise<Listed<SlurmJob>> {
    return this.#endpoint.list(listCall(options), 'jobs', (adapter) => adapter.job);
  }

  /** All jobs, each reduced to what `project` keeps while the list arrives: 100,000 jobs never are in memory with all their fields. */
  listProjected<T>(
    project: (job: SlurmJob) => T,
    options?: CallOptions & { readonly maxAnswerBytes?: number },
  ): Promise<Listed<T>> {
    const call = listCall(options);
    return this.#endpoint.list(call, 'jobs', (adapter) => (raw) => project(adapter.job(raw)));
  }

  /** Id and state of all jobs, or of the given ones. */
  states(ids?: readonly (number | string)[], options?: CallOptions): Promise<Listed<SlurmJobState>> {
    const query = ids === undefined ? {} : { job_id: ids };
    const call = { method: 'GET', path: 'jobs/state/', query, ...callOptions(options) } as const;
    return this.#endpoint.list(call, 'jobs', (adapter) => adapter.jobState);
  }

  /**
   * One job, by number or by its id in `jobs/state`; `undefined` if slurmctld does not know it (it removes
   * ended jobs after MinJobAge).
   */
  async get(id: number | string, options?: CallOptions): Promise<SlurmJob | undefined> {
    const [number = '', task] = String(id).split('_');
    const path = `job/${encodeURIComponent(number)}`;
    try {
      // While slurmctld is down this request blocks twice as long as others.
      const call = { method: 'GET', path, timeoutMs: 25_000, ...callOptions(options) } as const;
      // For the number of an array Slurm returns all of its tasks.
      const { items } = await this.#endpoint.list(call, 'jobs', (adapter) => adapter.job);
      return (
        items.find((job) => jobKey(job) === String(id)) ??
        (task === undefined
          ? items.find((job) => String(job.id) === number)
          : recordOfTask(items, Number(number), Number(task)))
      );
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  /** Submits a batch script. Never retried: after a Timeout it is unknown whether the job exists. */
  async submit(job: JobSubmission, options?: CallOptions): Promise<Submitted> {
    if (!job.script.startsWith('#!'))
      throw new InvalidInput('the script must begin with an interpreter line such as #!/bin/sh');
    const call = {
      method: 'POST',
      path: 'job/submit',
      body: wireSubmission(job),
      ...callOptions(options),
    } as const;
    const { envelope, warnings } = await this.#endpoint.connection.ask(call);
    const id = envelope['job_id'];
    if (typeof id !== 'number' || id === 0)
      throw new ProtocolError('POST job/submit: Slurm accepted a job without telling its number');
    const message = envelope['job_submit_user_msg'];
    return { id, message: typeof message === 'string' ? message : '', warnings };
  }

  async update(id: number | string, update: JobUpdate, options?: CallOptions): Promise<WriteResult> {
    const path = `job/${encodeURIComponent(id)}`;
    const body = wireUpdate(update);
    const reply = await this.#endpoint.connection.ask({
      method: 'POST',
      path,
      body,
      ...callOptions(options),
    });
    return this.#endpoint.accepted(reply.warnings);
  }

  hold(id: number | string, options?: CallOptions): Promise<WriteResult> {
    return this.update(id, { hold: true }, options);
  }

  release(id: number | string, options?: CallOptions): Promise<WriteResult> {
    return this.update(id, { hold: false }, options);
  }

  /** Cancels a job. Slurm always responds with 200; failures are in `status[]` (from v0.0.42). */
  cancel(id: number | string, options?: CallOptions): Promise<CancelResult> {
    return this.#delete(id, {}, options);
  }

  /** Sends a signal (`USR1`, `SIGTERM`, `10`) to a running job. */
  signal(id: number | string, signal: string | number, options?: CallOptions): Promise<CancelResult> {
    if (!/^(SIG)?[A-Z0-9]+$/.test(String(signal)))
      throw new InvalidInput(`"${signal}" is not a signal; write it like SIGUSR1 or 10`);
    return this.#delete(id, { signal: String(signal) }, options);
  }

  /** Requeues a running or ended job; from v0.0.45 (older versions only set a flag and return 200). */
  async requeue(id: number | string, options?: CallOptions): Promise<WriteResult> {
    await this.#endpoint.require('requeue', 'requeueing a job', options);
    const path = `job/${encodeURIComponent(id)}/requeue`;
    const reply = await this.#endpoint.connection.ask({
      method: 'GET',
      path,
      idempotent: false,
      ...callOptions(options),
    });
    return this.#endpoint.accepted(reply.warnings);
  }

  async #delete(
    id: number | string,
    query: Record<string, string>,
    options?: CallOptions,
  ): Promise<CancelResult> {
    if (!(await this.#mayAsk(id, options))) return { outcome: 'gone', warnings: [] };
    const path = `job/${encodeURIComponent(id)}`;
    const call = { method: 'DELETE', path, query, idempotent: true, ...callOptions(options) } as const;
    const { outcome, envelope, warnings } = await this.#tryDelete(call);
    if (outcome !== 'answered') return { outcome, warnings };
    const failed = (envelope['status'] ?? []) as readonly {
      readonly error?: { readonly code?: number; readonly string?: string };
    }[];
    const problem = failed.map((status) => status.error).find((error) => (error?.code ?? 0) !== 0);
    switch (problem?.code) {
      case undefined:
        return { outcome: 'accepted', warnings };
      case errorNumber.unknownJob:
        return { outcome: 'gone', warnings };
      case errorNumber.jobAlreadyEnded:
        return { outcome: 'ended', warnings };
      default: {
        const text = problem?.string ?? 'no text';
        throw new Refused(`DELETE ${path}: ${text} (Slurm error ${problem?.code})`, {
          number: problem?.code ?? 0,
          text,
        });
      }
    }
  }

  /**
   * Whether Slurm knows the job at all. It is never asked to end a job of another user: to look up whether that is permitted slurmctld
   * waits for a lock that it holds itself, and answers no one any more (24.11 and 26.05). SlurmUser and root need no permission.
   */
  async #mayAsk(id: number | string, options?: CallOptions): Promise<boolean> {
    const user = await this.#endpoint.connection.user(options?.signal);
    if (user === undefined || isAdministrator(user)) return true;
    const job = await this.get(id, options);
    if (job === undefined) return false;
    // A slurmrestd that does not know the people of the cluster names no owner: then only the second question tells.
    const isOther = job.user !== '' && job.user !== user;
    if (isOther || (await this.#isRefused(id, options)))
      throw new Forbidden(
        `Job ${id} belongs to ${job.user || 'another user'}: ${user} cannot end it over REST. Coordinators and operators of Slurm use scancel.`,
      );
    return true;
  }

  /** Whether Slurm refuses the user a change of the job: asked with one that changes nothing. */
  async #isRefused(id: number | string, options?: CallOptions): Promise<boolean> {
    try {
      await this.update(id, {}, options);
    } catch (error) {
      if (error instanceof Forbidden) return true;
      // Of a job that has ended, say. What matters the request to end it tells as well.
      if (!(error instanceof Refused)) throw error;
    }
    return false;
  }

  async #tryDelete(call: Parameters<Connection['ask']>[0]) {
    try {
      return { outcome: 'answered', ...(await this.#endpoint.connection.ask(call)) } as const;
    } catch (error) {
      if (error instanceof NotFound) return { outcome: 'gone', envelope: {}, warnings: [] } as const;
      if (error instanceof Refused && error.number === errorNumber.jobAlreadyEnded)
        return { outcome: 'ended', envelope: {}, warnings: [] } as const;
      throw error;
    }
  }
}

function listCall(options?: CallOptions & { readonly maxAnswerBytes?: number }) {
  return {
    method: 'GET',
    path: 'jobs/',
    timeoutMs: 60_000,
    ...callOptions(options),
    ...(options?.maxAnswerBytes !== undefined && { maxAnswerBytes: options.maxAnswerBytes }),
  } as const;
}

function wireSubmission(job: JobSubmission): Record<string, unknown> {
  const environment = job.environment ?? { PATH: '/usr/local/bin:/usr/bin:/bin' };
  return {
    script: job.script,
    job: {
      name: job.name ?? 'job',
      current_working_directory: job.directory ?? '/tmp',
      environment: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      ...(job.partition !== undefined && { partition: job.partition }),
      ...(job.account !== undefined && { account: job.account }),
      ...(job.qos !== undefined && { qos: job.qos }),
      ...(job.reservation !== undefined && { reservation: job.reservation }),
      ...(job.nodes !== undefined && { minimum_nodes: job.nodes, maximum_nodes: job.nodes }),
      ...(job.tasks !== undefined && { tasks: job.tasks }),
      ...(job.cpusPerTask !== undefined && { cpus_per_task: job.cpusPerTask }),
      ...(job.memory !== undefined && { memory_per_node: wireNumber(job.memory) }),
      ...(job.tresPerNode !== undefined && { tres_per_node: job.tresPerNode }),
      ...(job.timeLimit !== undefined && { time_limit: wireNumber(parseTimeLimit(job.timeLimit)) }),
      ...(job.requiredNodes !== undefined && { required_nodes: job.requiredNodes }),
      ...(job.excludedNodes !== undefined && { excluded_nodes: job.excludedNodes }),
      ...(job.constraints !== undefined && { constraints: job.constraints }),
      ...(job.comment !== undefined && { comment: job.comment }),
      ...(job.extra !== undefined && { extra: job.extra }),
      ...(job.hold !== undefined && { hold: job.hold }),
      ...(job.requeue !== undefined && { requeue: job.requeue }),
      ...(job.standardOutput !== undefined && { standard_output: job.standardOutput }),
      ...(job.standardError !== undefined && { standard_error: job.standardError }),
      ...(job.array !== undefined && { array: job.array }),
      ...(job.dependency !== undefined && { dependency: job.dependency }),
      ...job.more,
    },
  };
}

function wireUpdate(update: JobUpdate): Record<string, unknown> {
  return {
    ...(update.timeLimit !== undefined && { time_limit: wireNumber(parseTimeLimit(update.timeLimit)) }),
    ...(update.comment !== undefined && { comment: update.comment }),
    ...(update.adminComment !== undefined && { admin_comment: update.adminComment }),
    ...(update.extra !== undefined && { extra: update.extra }),
    ...(update.priority !== undefined && { priority: wireNumber(update.priority) }),
    ...(update.partition !== undefined && { partition: update.partition }),
    ...(update.qos !== undefined && { qos: update.qos }),
    ...(update.name !== undefined && { name: update.name }),
    ...(update.hold !== undefined && { hold: update.hold }),
    ...(update.requeue !== undefined && { requeue: update.requeue }),
    ...update.more,
  };
}
