/** An operator's connection to the model of Slurm: what it has listed, which may be old or nothing, behind the product's own gateway. */
import {
  compressHostlist,
  type JobsView,
  type NodesView,
  type NodeUpdate,
  parseNodeState,
  type ReservationWrite,
  type SlurmClient,
  type SlurmJob,
  type SlurmNode,
  type SlurmReservation,
  type SlurmWatch,
  Unavailable,
} from '@slurm-operator/slurm';
import { slurmJob } from '../../../slurm/testing/slurm-job.ts';
import { WatchedGateway } from '../../src/slurm-connection/watched-gateway.ts';
import { blankNode } from '../fake-slurm.ts';
import type { ModelJob, ModelNode, ModelSlurm } from './model-slurm.ts';

export interface ConnectionOptions {
  readonly slurm: ModelSlurm;
  readonly now: () => number;
  /** Time passes: a list and a write never happen at the same moment. */
  readonly tick: () => number;
  readonly reachable: () => boolean;
  /** Called before every write of the operator; checks it, and throws when that operator has crashed. */
  readonly writing: (write: SlurmWrite) => void;
}

export type SlurmWrite =
  | { readonly kind: 'update'; readonly node: string; readonly update: NodeUpdate }
  | { readonly kind: 'delete'; readonly node: string }
  | { readonly kind: 'reserve'; readonly name: string }
  | { readonly kind: 'unreserve'; readonly name: string };

const notListed = { code: 'NotYetListed', message: 'not asked yet' } as const;

export class ModelConnection {
  readonly gateway: WatchedGateway;
  readonly client: SlurmClient;
  readonly watch: SlurmWatch;
  readonly #options: ConnectionOptions;
  #nodes: NodesView = { kind: 'unknown', since: 0, why: notListed, last: undefined };
  #jobs: JobsView = { kind: 'unknown', since: 0, why: notListed, last: undefined };

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.client = this.#client() as unknown as SlurmClient;
    this.watch = this.#watch() as unknown as SlurmWatch;
    const { slurm, now } = options;
    this.gateway = new WatchedGateway({
      client: this.client,
      watch: this.watch,
      controllerStartedAt: () => slurm.startedAt,
      now,
    });
  }

  /** A node as the operator has last seen it. */
  shown(name: string): SlurmNode | undefined {
    return this.#nodes.kind === 'known' ? this.#nodes.nodes.get(name) : undefined;
  }

  /** What the lister of nodes does every second. */
  listNodes(): void {
    this.#nodes = this.#options.reachable() ? this.#listedNodes() : unknown(this.#options.now());
  }

  /** The same for jobs. `incomplete`: the details of the running ones did not come. */
  listJobs(incomplete = false): void {
    this.#jobs = this.#options.reachable() ? this.#listedJobs(incomplete) : unknown(this.#options.now());
  }

  /** Slurm answers, but the list of jobs fails. */
  loseJobs(): void {
    this.#jobs = unknown(this.#options.now());
  }

  #listedNodes(): Extract<NodesView, { kind: 'known' }> {
    const { slurm, tick } = this.#options;
    const at = tick();
    const nodes = [...slurm.nodes.values()].map((node) => [node.name, toSlurmNode(node, slurm)] as const);
    return { kind: 'known', at, answeredAt: tick(), nodes: new Map(nodes) };
  }

  #listedJobs(incomplete: boolean): Extract<JobsView, { kind: 'known' }> {
    const { slurm, tick } = this.#options;
    const at = tick();
    const jobs = [...slurm.jobs.values()].map((job) => toSlurmJob(job, at));
    const holding = jobs.filter(({ nodes }) => nodes !== '');
    return {
      kind: 'known',
      at,
      answeredAt: tick(),
      states: new Map(jobs.map(({ id, state }) => [String(id), state])),
      running: new Map(incomplete ? [] : holding.map((job) => [String(job.id), job])),
      missing: new Set(incomplete ? holding.map(({ id }) => String(id)) : []),
    };
  }

  #client() {
    const { slurm, now, tick, writing } = this.#options;
    const ask = <T>(answer: () => T): Promise<T> => {
      try {
        if (!this.#options.reachable()) throw new Unavailable('cannot reach slurmrestd: connection refused');
        return Promise.resolve(answer());
      } catch (error) {
        return Promise.reject(error);
      }
    };
    const write = <T>(what: SlurmWrite, answer: () => T) =>
      ask(() => {
        writing(what);
        tick();
        return answer();
      });
    const reservations = () =>
      [...slurm.reservations.values()].map(({ write: made }) => toReservation(made, now()));
    return {
      about: { release: '26.05.5' },
      circuit: () => ({ state: 'closed', waitMs: 0 }),
      nodes: {
        list: () => ask(() => ({ items: [...this.#listedNodes().nodes.values()], beganAt: now() })),
        current: (names: readonly string[]) =>
          ask(() => ({
            nodes: [...this.#listedNodes().nodes.values()].filter(({ name }) => names.includes(name)),
            beganAt: now(),
          })),
        update: (node: string, update: NodeUpdate) =>
          write({ kind: 'update', node, update }, () => ({
            outcome: slurm.update(node, update) ? 'done' : 'gone',
          })),
        delete: (node: string) =>
          write({ kind: 'delete', node }, () => ({ outcome: slurm.delete(node) ? 'done' : 'gone' })),
      },
      jobs: {
        states: () =>
          ask(() => ({
            items: [...slurm.jobs.values()].map((job) => ({ id: String(job.id), state: [job.state] })),
          })),
        list: () =>
          ask(() => ({
            items: [...slurm.jobs.values()].map((job) => toSlurmJob(job, now())),
            beganAt: tick(),
          })),
        get: (id: number | string) =>
          ask(() => {
            const job = slurm.jobs.get(Number(id));
            return job === undefined ? undefined : toSlurmJob(job, now());
          }),
      },
      partitions: {
        list: () =>
          ask(() => ({
            items: [...slurm.partitions].map(([name, { state, nodes }]) => ({
              name,
              state: [state],
              nodeSets: nodes.filter((one) => one !== 'ALL').join(','),
            })),
          })),
      },
      reservations: {
        list: () => ask(() => ({ items: reservations(), beganAt: tick() })),
        get: (name: string) => ask(() => reservations().find((one) => one.name === name)),
        write: (made: ReservationWrite) =>
          write({ kind: 'reserve', name: made.name ?? '' }, () => {
            slurm.reservations.set(made.name ?? '', { write: made, by: 'operator' });
            return made.name ?? '';
          }),
        delete: (name: string) =>
          write({ kind: 'unreserve', name }, () => ({
            outcome: slurm.reservations.delete(name) ? 'done' : 'gone',
          })),
      },
    };
  }

  #watch() {
    const pollFast = () => ({ [Symbol.dispose]: () => undefined });
    const view = <V>(get: () => V, since: () => V) => ({
      get view() {
        return get();
      },
      pollFast,
      subscribe: () => () => undefined,
      invalidate: () => undefined,
      listSince: () =>
        this.#options.reachable()
          ? Promise.resolve(since())
          : Promise.reject(new Unavailable('cannot reach slurmrestd: connection refused')),
    });
    return {
      nodes: view(
        () => this.#nodes,
        () => (this.#nodes = this.#listedNodes()),
      ),
      jobs: view(
        () => this.#jobs,
        () => (this.#jobs = this.#listedJobs(false)),
      ),
      pollFast,
    };
  }
}

function unknown(since: number) {
  return {
    kind: 'unknown',
    since,
    why: { code: 'Unavailable', message: 'connection refused' },
    last: undefined,
  } as never;
}

/** Slurm calls a node idle whose only job is suspended, unless it counts memory. */
function toSlurmNode(node: ModelNode, slurm: ModelSlurm): SlurmNode {
  const busy = slurm.on(node.name).some(({ state }) => state === 'RUNNING');
  const base = node.down ? 'DOWN' : busy ? 'ALLOCATED' : 'IDLE';
  const reservation = [...slurm.reservations.values()].find(({ write }) => write.nodes?.includes(node.name));
  return {
    ...blankNode(node.name),
    state: parseNodeState([base, ...(node.drained ? ['DRAIN'] : []), 'DYNAMIC_NORM']),
    address: node.address,
    reason: node.reason,
    comment: node.comment,
    features: node.features,
    activeFeatures: node.features,
    partitions: [...slurm.partitions.keys()].filter((name) => slurm.isIn(node, name)),
    topology: node.topology,
    instanceId: node.instanceId,
    instanceType: node.instanceType,
    slurmdStartedAt: node.slurmdStartedAt,
    reservation: reservation?.write.name ?? '',
  };
}

function toSlurmJob(job: ModelJob, now: number): SlurmJob {
  const runs = job.state === 'RUNNING' || job.state === 'SUSPENDED';
  return slurmJob(job.id, {
    partition: job.partitions.join(','),
    state: job.state === 'RUNNING' && job.prologUntil > now ? ['RUNNING', 'CONFIGURING'] : [job.state],
    stateReason: job.held ? 'JobHeldUser' : job.badConstraints ? 'BadConstraints' : '',
    nodes: runs ? job.node : '',
    requiredNodes: job.wants.node ?? '',
    priority: job.held || job.badConstraints ? 0 : 1,
    held: job.held || job.badConstraints,
    submittedAt: job.startedAt,
    startedAt: runs ? job.startedAt : undefined,
    constraints: job.wants.feature ?? '',
  });
}

function toReservation(made: ReservationWrite, now: number): SlurmReservation {
  const startsAt = made.startsAt ?? now;
  return {
    name: made.name ?? '',
    nodes: compressHostlist([...(made.nodes ?? [])]),
    nodeCount: made.nodes?.length ?? 0,
    partition: '',
    users: [...(made.users ?? [])],
    accounts: [],
    flags: [...(made.flags ?? [])],
    features: '',
    startsAt,
    endsAt: startsAt + (made.durationMinutes ?? 60) * 60_000,
  };
}
