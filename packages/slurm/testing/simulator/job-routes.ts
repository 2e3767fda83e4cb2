/** Jobs of the simulated slurmrestd. Scripts are read for `sleep` and `exit`; nothing is executed. */
import { expandHostlist } from '../../src/meaning/hostlist.ts';
import { bad, good, type Reply } from './reply.ts';
import { type Request, SlurmRefusal } from './request.ts';
import { jobStates, type SimulatedJob } from './simulated-objects.ts';
import { number } from './wire-format.ts';

export function listJobs(request: Request): Reply {
  const { cluster, format, query, version, latency } = request;
  const since = query.get('update_time');
  if (since !== null && version === 'v0.0.41')
    return bad(422, 9202, 'Unable to convert Data type', `Parsing of ${since} for timestamp failed`);
  if (since !== null && Number(since) - 1 >= cluster.changedAt('jobs'))
    return good({ jobs: [], last_update: number(0) }, [`No job changes since update_time[${since}]`]);
  const elements = [...cluster.jobs.values()].map((job) => format.jobText(job));
  return {
    status: 200,
    list: { key: 'jobs', elements },
    fields: { last_update: number(Math.floor(cluster.now() / 1000)) },
    warnings: elements.length > 0 ? [] : [{ description: 'Zero jobs to dump', source: '' }],
    takesMs: elements.length * latency.perListedJob,
  };
}

export function listJobStates({ cluster, query, latency }: Request): Reply {
  const wanted = query.getAll('job_id');
  if (wanted.some((id) => !/^\d+$/.test(id)))
    return bad(422, 9000, 'Query empty or not RFC7320 compliant', 'Rejecting request. Failure parsing query');
  const jobs = [...cluster.jobs.values()].filter(
    (job) => wanted.length === 0 || wanted.includes(String(job.id)),
  );
  const elements = jobs.map((job) =>
    Buffer.from(
      `    {\n      "job_id": "${job.id}${job.hetOffset === undefined ? '' : `+${job.hetOffset}`}",\n      "state": [\n        ${jobStates(
        job,
      )
        .map((name) => `"${name}"`)
        .join(',\n        ')}\n      ]\n    }`,
    ),
  );
  return { status: 200, list: { key: 'jobs', elements }, takesMs: elements.length * latency.perJobState };
}

export function getJob({ cluster, format, parameter }: Request): Reply {
  const job = cluster.jobs.get(Number(parameter));
  if (job === undefined)
    return bad(404, 2017, 'Invalid job id specified', `Unable to query JobId=${parameter}`);
  return good({ jobs: [format.job(job)] });
}

interface Description {
  readonly name?: string;
  readonly partition?: string;
  /** The script may stand here as well as beside the job. */
  readonly script?: string;
  readonly environment?: readonly string[];
  readonly current_working_directory?: string;
  readonly minimum_nodes?: number;
  /** A count as text, `1` or `1-4`; the first number is the least. */
  readonly nodes?: string;
  readonly cpus_per_task?: number;
  readonly tasks?: number;
  readonly required_nodes?: readonly string[] | string;
  readonly time_limit?: unknown;
  readonly comment?: string;
  readonly hold?: boolean;
  readonly requeue?: boolean;
}

/** A list of jobs is one heterogeneous job; the number of its first component is the number of the job. */
export function submitJob(request: Request): Reply {
  const { body } = request;
  const script = typeof body['script'] === 'string' ? body['script'] : undefined;
  const components = body['jobs'] as readonly Description[] | undefined;
  if (components === undefined) return submitOne(request, body['job'] ?? {}, script);
  const replies = components.map((job, offset) => submitOne(request, job, script, offset));
  return replies[0] ?? good();
}

function submitOne(request: Request, job: Description, ownScript?: string, hetOffset?: number): Reply {
  const { cluster, user } = request;
  const script = ownScript ?? job.script ?? '';
  const limit = timeLimit(job.time_limit);
  if (limit === 'invalid')
    return bad(
      500,
      9202,
      'Unable to convert Data type',
      `Expected integer but got ${JSON.stringify(job.time_limit)}`,
    );
  if (script === '')
    return bad(
      422,
      9000,
      'Query empty or not RFC7320 compliant',
      'Populated "script" field is required for job submission',
    );
  const modern = cluster.release === '26.05';
  if (job.environment === undefined) {
    cluster.skipJobNumber();
    throw modern
      ? new SlurmRefusal(2127, 'Environment is missing in job')
      : new SlurmRefusal(2019, 'I/O error writing script/environment to file');
  }
  const named = (job.partition ?? 'all').split(',');
  if (named.some((name) => !cluster.partitions.has(name)))
    throw new SlurmRefusal(2000, 'Invalid partition name specified');
  const accepting = named.filter((name) =>
    ['UP', 'DOWN'].includes(cluster.partitions.get(name)?.state ?? ''),
  );
  if (accepting.length === 0)
    throw new SlurmRefusal(2070, 'Required partition not available (inactive or drain)');
  const wantedNodes = job.minimum_nodes ?? Number.parseInt(job.nodes ?? '1', 10);
  if (wantedNodes > cluster.nodes.size)
    throw modern
      ? new SlurmRefusal(2025, 'Task count specification invalid')
      : new SlurmRefusal(2014, 'Requested node configuration is not available');
  const required = typeof job.required_nodes === 'string' ? [job.required_nodes] : (job.required_nodes ?? []);
  const created = cluster.createJob({
    name: job.name ?? 'job',
    user,
    partition: accepting.join(','),
    comment: job.comment ?? '',
    held: job.hold === true,
    requeueable: job.requeue ?? true,
    directory: job.current_working_directory ?? '/',
    wantedNodes,
    requiredNodes: required.flatMap((list) => expandHostlist(list)),
    cpusPerNode: Math.max(1, Math.ceil(((job.tasks ?? 1) * (job.cpus_per_task ?? 1)) / wantedNodes)),
    timeLimit: limit,
    ...(hetOffset !== undefined && { hetOffset }),
    ...workOf(script),
  });
  const held = 'Job is in held state, pending scheduler release';
  const warnings = job.hold ? [`Job submission resulted in non-zero return code: ${held}`, held] : [];
  return good({ job_id: created.id, step_id: 'batch', job_submit_user_msg: '' }, warnings);
}

/** Minutes; a plain integer or a number with flags. A string is what slurmrestd cannot read. */
function timeLimit(wire: unknown): number | undefined | 'invalid' {
  if (wire === undefined) return undefined;
  if (typeof wire === 'number') return wire;
  if (typeof wire !== 'object' || wire === null) return 'invalid';
  const { set, infinite, number: minutes } = wire as { set?: boolean; infinite?: boolean; number?: number };
  return set === true && infinite !== true ? minutes : undefined;
}

/** What a script of `sleep` and `exit` lines does; any other line takes no time. */
function workOf(script: string): Pick<SimulatedJob, 'durationMs' | 'exitCode'> {
  const sleeps = [...script.matchAll(/^\s*sleep\s+([\d.]+)/gm)].map((match) => Number(match[1]) * 1000);
  const exit = /^\s*exit\s+(\d+)/m.exec(script);
  return { durationMs: sleeps.reduce((sum, ms) => sum + ms, 0), exitCode: Number(exit?.[1] ?? 0) };
}

export function updateJob(request: Request): Reply {
  const { cluster, body, parameter, user } = request;
  const job = cluster.jobs.get(Number(parameter));
  if (job === undefined) return bad(404, 2017, 'Invalid job id specified', 'Job update requested failed');
  if (!request.isOperator && job.user !== user) throw new SlurmRefusal(2002, 'Access/permission denied');
  const limit = timeLimit(body['time_limit']);
  if (limit === 'invalid')
    return bad(
      500,
      9202,
      'Unable to convert Data type',
      `Expected integer but got ${JSON.stringify(body['time_limit'])}`,
    );
  if (limit !== undefined) job.timeLimit = limit;
  if (typeof body['comment'] === 'string') job.comment = body['comment'];
  if (typeof body['hold'] === 'boolean' && job.state === 'PENDING') job.held = body['hold'];
  // Old and new: the flag is set, and the job keeps running.
  if (typeof body['requeue'] === 'boolean') job.requeueable = body['requeue'];
  cluster.touchJob(job);
  return good({ results: null });
}

export function cancelJob({ cluster, parameter, query, version, user, isOperator }: Request): Reply {
  const id = Number(parameter);
  const job = cluster.jobs.get(id);
  const failure = (code: number, text: string) => {
    const status = {
      error: { string: text, code, message: text },
      step_id: parameter,
      job_id: number(id),
      federation: { sibling: '' },
    };
    // Up to v0.0.41 nothing tells.
    return good(version === 'v0.0.41' ? {} : { status: [status] });
  };
  if (job === undefined) return failure(2017, 'Invalid job id specified');
  if (!isOperator && job.user !== user) return failure(2002, 'Access/permission denied');
  if (job.state !== 'PENDING' && job.state !== 'RUNNING')
    return failure(2021, 'Job/step already completing or completed');
  if (query.get('signal') === null) cluster.finishJob(id, 'CANCELLED');
  else if (job.state === 'PENDING') return failure(2020, 'Job can not be altered now, try again later');
  return good({ status: [] });
}

export function requeueJob({ cluster, parameter }: Request): Reply {
  const job = cluster.jobs.get(Number(parameter));
  if (job === undefined)
    return bad(404, 2017, 'Invalid job id specified', `Requeue JobID=${parameter} failed`);
  cluster.requeueJob(job.id);
  return good({ status: [] });
}
