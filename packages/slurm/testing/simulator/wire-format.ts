/**
 * Writes the simulated state as slurmrestd would: the recorded answers of the real one, per release and API version, with
 * the values put in. So the size and the fields of every object are the real ones.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiVersion } from '../../src/connection/api-version.ts';
import { compressHostlist } from '../../src/meaning/hostlist.ts';
import type { SlurmRelease } from '../slurm-rootfs.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import {
  jobStates,
  type SimulatedJob,
  type SimulatedNode,
  type SimulatedReservation,
} from './simulated-objects.ts';

export type Wire = Record<string, unknown>;

const recorded = join(import.meta.dirname, '..', '..', 'testdata', 'recorded');

export const number = (value: number | undefined) => ({
  set: value !== undefined,
  infinite: false,
  number: value ?? 0,
});
const seconds = (ms: number) => number(Math.floor(ms / 1000));

export class WireFormat {
  readonly #node: Wire;
  readonly #pendingJob: Wire;
  readonly #runningJob: Wire;
  readonly #partition: Wire;
  readonly #accountingJob: Wire;
  readonly #statistics: Wire;
  readonly meta: Wire;
  readonly #nodeTexts = new Map<string, { revision: number; pings: number; text: Buffer }>();
  readonly #jobTexts = new Map<number, { revision: number; text: Buffer }>();

  readonly #compact: boolean;

  constructor(release: SlurmRelease, version: ApiVersion, json: 'pretty' | 'compact' = 'pretty') {
    this.#compact = json === 'compact';
    const body = (name: string) =>
      (JSON.parse(readFileSync(join(recorded, release, version, `${name}.json`), 'utf8')) as { body: Wire })
        .body;
    const first = (name: string, key: string) => (body(name)[key] as Wire[])[0] ?? {};
    this.#node = first('nodes', 'nodes');
    this.#pendingJob = first('job-held', 'jobs');
    this.#runningJob = first('job-running', 'jobs');
    this.#partition = first('partition', 'partitions');
    this.#accountingJob = first('slurmdb-jobs', 'jobs');
    this.#statistics = body('diag')['statistics'] as Wire;
    this.meta = body('ping')['meta'] as Wire;
  }

  node(cluster: SimulatedCluster, node: SimulatedNode): Wire {
    const wobble = (cluster.pings / 1000 + node.name.length) % 97;
    return {
      ...this.#node,
      name: node.name,
      hostname: node.name,
      address: node.address,
      state: cluster.stateNames(node),
      cpus: node.cpus,
      real_memory: node.memory,
      alloc_cpus: node.listedCpus,
      alloc_idle_cpus: node.cpus - node.listedCpus,
      features: node.features,
      active_features: node.features,
      comment: node.comment,
      extra: node.extra,
      gres: node.gres,
      reason: node.reason,
      reason_set_by_user: node.reasonSetBy,
      reason_changed_at: seconds(node.reasonSetAt),
      partitions: [...cluster.partitions.keys()],
      slurmd_start_time: seconds(node.slurmdStartedAt),
      last_busy: seconds(node.lastBusyAt),
      cpu_load: 300 + Math.floor(wobble),
      free_mem: number(17_000 + Math.floor(wobble)),
      ...('topology' in this.#node && { topology: node.topology }),
    };
  }

  /** The same as text, kept until the node changes. */
  nodeText(cluster: SimulatedCluster, node: SimulatedNode): Buffer {
    const kept = this.#nodeTexts.get(node.name);
    if (kept?.revision === node.revision && kept.pings === cluster.pings) return kept.text;
    const text = this.#element(this.node(cluster, node));
    this.#nodeTexts.set(node.name, { revision: node.revision, pings: cluster.pings, text });
    return text;
  }

  job(job: SimulatedJob): Wire {
    const template = job.state === 'PENDING' ? this.#pendingJob : this.#runningJob;
    const end = job.endedAt || (job.startedAt ? job.startedAt + (job.timeLimit ?? 0) * 60_000 : 0);
    return {
      ...template,
      job_id: job.id,
      name: job.name,
      user_name: job.user,
      account: job.account,
      gres_detail: job.gresDetail,
      partition: job.partition,
      job_state: jobStates(job),
      state_reason: job.held ? 'JobHeldUser' : job.reason,
      comment: job.comment,
      hold: job.held,
      priority: number(job.held ? 0 : 1),
      nodes: compressHostlist(job.nodes),
      required_nodes: compressHostlist(job.requiredNodes),
      node_count: number(job.wantedNodes),
      submit_time: seconds(job.submittedAt),
      start_time: seconds(job.startedAt),
      end_time: seconds(end),
      time_limit:
        job.timeLimit === undefined ? { set: false, infinite: true, number: 0 } : number(job.timeLimit),
      exit_code: {
        status: [job.exitCode === 0 ? 'SUCCESS' : 'ERROR'],
        return_code: number(job.endedAt > 0 ? job.exitCode : 0),
        signal: { id: number(undefined), name: '' },
      },
      restart_cnt: job.restarts,
      requeue: job.requeueable,
      current_working_directory: job.directory,
    };
  }

  jobText(job: SimulatedJob): Buffer {
    const kept = this.#jobTexts.get(job.id);
    if (kept?.revision === job.revision) return kept.text;
    const text = this.#element(this.job(job));
    this.#jobTexts.set(job.id, { revision: job.revision, text });
    return text;
  }

  partition(cluster: SimulatedCluster, name: string): Wire {
    const configured = cluster.allNodes();
    const state = cluster.partitions.get(name)?.state ?? 'UP';
    return {
      ...this.#partition,
      name,
      partition: { ...(this.#partition['partition'] as Wire), state: [state] },
      nodes: { allowed_allocation: '', configured, total: cluster.nodes.size },
    };
  }

  reservation(reservation: SimulatedReservation): Wire {
    return {
      accounts: '',
      burst_buffer: '',
      core_count: 0,
      end_time: seconds(reservation.endsAt),
      features: '',
      flags: [...reservation.flags, 'SPEC_NODES'],
      groups: '',
      licenses: '',
      max_start_delay: 0,
      name: reservation.name,
      node_count: reservation.nodes.length,
      node_list: compressHostlist(reservation.nodes),
      partition: '',
      start_time: seconds(reservation.startsAt),
      users: reservation.users.join(','),
    };
  }

  accountingJob(job: SimulatedJob): Wire {
    return {
      ...this.#accountingJob,
      job_id: job.id,
      name: job.name,
      user: job.user,
      nodes: job.nodes.length > 0 ? compressHostlist(job.nodes) : 'None assigned',
      partition: job.partition,
      state: { current: [job.state], reason: job.reason },
      steps: job.nodes.length === 0 ? [] : this.#stepsOf(job),
    };
  }

  /** Those of the recorded job, with the number and the nodes of this one. */
  #stepsOf({ id, nodes }: SimulatedJob): readonly Wire[] {
    const steps = (this.#accountingJob['steps'] ?? []) as readonly Wire[];
    return steps.map((one) => {
      const step = one['step'] as Wire;
      return {
        ...one,
        nodes: { count: nodes.length, range: compressHostlist(nodes), list: nodes },
        step: { ...step, id: String(step['id']).replace(/^\d+/, String(id)) },
      };
    });
  }

  statistics(cluster: SimulatedCluster): Wire {
    const count = (...states: string[]) =>
      [...cluster.jobs.values()].filter((job) => states.includes(job.state)).length;
    return { ...this.#statistics, jobs_running: count('RUNNING'), jobs_pending: count('PENDING') };
  }

  /** As slurmrestd writes it: compact, or two spaces per level, four more for an element of a list. */
  #element(value: Wire): Buffer {
    if (this.#compact) return Buffer.from(JSON.stringify(value));
    return Buffer.from(`    ${JSON.stringify(value, undefined, 2).replaceAll('\n', '\n    ')}`);
  }
}
