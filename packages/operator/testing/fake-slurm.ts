/** A Slurm of one file for tests of the NodeSet controller: nodes register when the test's kubelet starts a pod. */
import {
  expandHostlist,
  type JobUpdate,
  type NodeUpdate,
  parseNodeState,
  Refused,
  type ReservationWrite,
  type SlurmNode,
  type SlurmReservation,
  type Waiting,
} from '@slurm-operator/slurm';
import type { NodesView, PendingNeeds } from '../src/slurm-connection/slurm-gateway.ts';
import { startOfItsOwn, strictlyLater } from './patient-clock.ts';
import type { StagedSlurm } from './staged-slurm.ts';

export class FakeSlurm implements StagedSlurm {
  /** What pending jobs ask for by name. */
  needs: PendingNeeds = { kind: 'known', jobs: [] };
  readonly nodes = new Map<string, SlurmNode>();
  /** Every change that was asked for, in order. */
  readonly asked: string[] = [];
  /** Why the jobs are not known; undefined: they are. */
  jobsUnknown: string | undefined;
  /** The topologies there are; undefined: any. */
  topologies: ReadonlySet<string> | undefined;
  readonly #onChange: () => void;
  #reachable = true;
  readonly #deadlines = new Map<string, number>();
  readonly #waiting = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #seen: NodesView = { kind: 'unknown', since: 0, why: 'not asked yet' };

  readonly #byHand: boolean;

  /** `byHand`: only `pollByHand` polls. */
  constructor(onChange: () => void, { byHand = false }: { readonly byHand?: boolean } = {}) {
    this.#onChange = onChange;
    this.#byHand = byHand;
  }

  async workerStarts({
    name,
    instanceId,
  }: {
    readonly name: string;
    readonly instanceId: string;
  }): Promise<number> {
    const at = startOfItsOwn();
    this.register(name, instanceId, at);
    return at;
  }

  /** A slurmd that ends says nothing to slurmctld. */
  async workerEnds(): Promise<void> {}

  async truth(): Promise<readonly SlurmNode[]> {
    return [...this.nodes.values()];
  }

  /** A slurmd with this instance id comes up. */
  register(name: string, instanceId: string, slurmdStartedAt: number): void {
    const known = this.nodes.get(name);
    this.nodes.set(name, {
      ...(known ?? blankNode(name)),
      instanceId,
      slurmdStartedAt,
      state: registered(known?.state) ?? parseNodeState(['IDLE']),
    });
    this.poll();
  }

  /** A job is allocated to a node that sleeps. */
  allocate(name: string): void {
    const node = this.nodes.get(name);
    const flags = new Set(node?.state.flags);
    switchPower(flags, 'POWER_UP');
    if (node !== undefined) this.nodes.set(name, { ...node, state: { ...node.state, flags } });
    this.occupy(name, true);
  }

  /** Work begins or ends on a node, which keeps its flags. */
  occupy(name: string, busy: boolean): void {
    const node = this.nodes.get(name);
    // Slurm counts in whole seconds.
    if (busy) this.#deadlines.set(name, Math.ceil(Date.now() / 1000) * 1000 + 60_000);
    else this.#deadlines.delete(name);
    if (node !== undefined)
      this.nodes.set(name, {
        ...node,
        state: { base: busy ? 'ALLOCATED' : 'IDLE', flags: node.state.flags },
      });
    this.poll();
  }

  setReachable(reachable: boolean): void {
    this.#reachable = reachable;
    this.poll();
  }

  /** What the operator's lister does every second. */
  poll(): void {
    if (this.#byHand) return;
    this.#seen = this.#list();
    this.#onChange();
  }

  /** Whether one more list brought news. */
  async pollByHand(): Promise<boolean> {
    const before = contentOf(this.#seen);
    this.#seen = this.#list();
    const news = contentOf(this.#seen) !== before;
    if (news) this.#onChange();
    return news;
  }

  /** As an operator that has just been started sees it: not at all. */
  forgetView(): void {
    this.#seen = { kind: 'unknown', since: 0, why: 'not asked yet' };
  }

  view(): NodesView {
    return this.#seen;
  }

  pendingNeeds(): Promise<PendingNeeds> {
    return Promise.resolve(this.needs);
  }

  async freshView(): Promise<NodesView> {
    return this.#list();
  }

  async freshNodes(names: readonly string[]): Promise<NodesView> {
    const view = this.#list();
    return view.kind === 'known'
      ? { ...view, nodes: view.nodes.filter(({ name }) => names.includes(name)) }
      : view;
  }

  /** Like the real lister: polled often while a caller waits. */
  expectChanges(who: string, waiting: Waiting): void {
    if (waiting !== false) this.#waiting.add(who);
    else this.#waiting.delete(who);
    if (this.#waiting.size > 0 && !this.#byHand) this.#timer ??= setInterval(() => this.poll(), 50);
    else this.close();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  release(): string {
    return '26.05.5';
  }

  async updateNode(names: string | readonly string[], update: NodeUpdate): Promise<void> {
    for (const name of [names].flat()) await this.#updateNode(name, update);
  }

  async createNodes(configuration: string): Promise<void> {
    this.asked.push(`create ${configuration}`);
    const value = (key: string) => new RegExp(`${key}=(\\S+)`).exec(configuration)?.[1] ?? '';
    const names = expandHostlist(value('NodeName'));
    if (names.some((name) => this.nodes.has(name))) throw new Refused('cannot create', { text: 'exists' });
    for (const name of names)
      this.nodes.set(name, {
        ...blankNode(name),
        state: parseNodeState(['IDLE', 'CLOUD', 'POWERED_DOWN', 'DYNAMIC_NORM']),
        features: value('Feature').split(','),
        cpus: Number(value('CPUs')),
        memory: Number(value('RealMemory')),
      });
    queueMicrotask(() => this.poll());
  }

  async #updateNode(name: string, update: NodeUpdate): Promise<void> {
    this.asked.push([update.state ?? 'update', name, update.topology].filter(Boolean).join(' '));
    if (!this.#reachable) throw new Error('connection refused');
    const node = this.nodes.get(name);
    if (node === undefined) return;
    if (update.topology !== undefined && !(this.topologies?.has(update.topology) ?? true))
      throw new Refused(`cannot update node ${name}`, { text: 'Invalid topology specification' });
    const flags = new Set(node.state.flags);
    switchPower(flags, update.state);
    if (update.state === 'DRAIN') flags.add('DRAIN');
    if (update.state === 'UNDRAIN') flags.delete('DRAIN');
    const base =
      update.state === 'DOWN'
        ? 'DOWN'
        : update.state === 'RESUME' && isAsleep(flags)
          ? 'IDLE'
          : node.state.base;
    if (update.state === 'RESUME') flags.delete('DRAIN');
    const isOver = update.state === 'UNDRAIN' || update.state === 'RESUME';
    const reason = isOver ? '' : (update.reason ?? node.reason);
    const reasonSetAt = update.reason === undefined ? node.reasonSetAt : Date.now();
    const { comment = node.comment, features = node.features, topology = node.topology } = update;
    this.nodes.set(name, {
      ...node,
      state: { base, flags },
      reason,
      reasonSetAt,
      comment,
      features,
      topology,
    });
    queueMicrotask(() => this.poll());
  }

  async updateJob(id: string, update: JobUpdate): Promise<void> {
    this.asked.push(`job ${id}: ${JSON.stringify(update)}`);
  }

  async deleteNode(name: string): Promise<void> {
    this.asked.push(`delete ${name}`);
    this.nodes.delete(name);
    queueMicrotask(() => this.poll());
  }

  async reservation(): Promise<SlurmReservation | undefined> {
    return undefined;
  }

  async writeReservation(reservation: ReservationWrite): Promise<void> {
    this.asked.push(`reserve ${reservation.name ?? ''}`);
  }

  async deleteReservation(name: string): Promise<void> {
    this.asked.push(`release ${name}`);
  }

  #list(): NodesView {
    if (!this.#reachable) return { kind: 'unknown', since: Date.now(), why: 'connection refused' };
    return {
      kind: 'known',
      at: strictlyLater(),
      nodes: [...this.nodes.values()],
      deadlines: new Map(this.#deadlines),
      jobsUnknown: this.jobsUnknown,
      jobsAfterNodes: true,
      controllerStartedAt: 0,
    };
  }
}

function contentOf(view: NodesView): string {
  return view.kind === 'unknown'
    ? view.why
    : JSON.stringify(view.nodes.map((node) => ({ ...node, state: [node.state.base, ...node.state.flags] })));
}

/** What slurmctld makes of a request about the power of a node. */
function switchPower(flags: Set<string>, state: NodeUpdate['state']): void {
  if (state === 'POWER_UP' && flags.delete('POWERED_DOWN')) flags.add('POWERING_UP');
  if (state === 'POWER_DOWN') {
    flags.add('POWERING_DOWN');
    flags.delete('POWERING_UP');
  }
  if (state === 'RESUME' && flags.delete('POWERING_DOWN')) flags.add('POWERED_DOWN');
}

const isAsleep = (flags: ReadonlySet<string>): boolean =>
  flags.has('POWERED_DOWN') || flags.has('POWERING_DOWN');

function registered(state: SlurmNode['state'] | undefined): SlurmNode['state'] | undefined {
  return state && { ...state, flags: new Set([...state.flags].filter((flag) => flag !== 'POWERING_UP')) };
}

export function blankNode(name: string): SlurmNode {
  return {
    name,
    hostname: name,
    address: '',
    port: undefined,
    state: parseNodeState(['IDLE']),
    reason: '',
    reasonSetBy: '',
    reasonSetAt: undefined,
    comment: '',
    extra: '',
    features: [],
    activeFeatures: [],
    partitions: ['all'],
    reservation: '',
    topology: '',
    gres: '',
    gresUsed: '',
    cpus: 1,
    allocatedCpus: 0,
    memory: 1,
    allocatedMemory: 0,
    freeMemory: undefined,
    cpuLoad: undefined,
    instanceId: '',
    instanceType: '',
    architecture: '',
    operatingSystem: '',
    version: '26.05.5',
    bootedAt: undefined,
    slurmdStartedAt: undefined,
    lastBusyAt: undefined,
    resumeAfter: undefined,
  };
}
