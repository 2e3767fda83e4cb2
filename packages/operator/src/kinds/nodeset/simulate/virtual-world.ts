/**
 * The effects of the actions of a plan: pods that start and end after typical times, jobs that end when they are expected to. The
 * decisions are not here; they are the plan's. Pure: time is an argument.
 */
import type { WorkerAction } from '../model/actions.ts';
import { type Claim, type Observed, type SlurmNode, slurmNameOf, type Worker } from '../model/observed.ts';

export interface SimulatedJob {
  readonly id: number;
  /** Names of its Slurm nodes. */
  readonly nodes: readonly string[];
  /** When it ends in this run of the simulation; Infinity: never. */
  readonly endsAt: number;
  /** By when it must end, as the plan is told; Infinity for a job without a limit. */
  readonly deadline: number;
}

/** Typical times in milliseconds. */
export interface Durations {
  /** From the creation of a pod until its slurmd is registered and ready. */
  readonly start: number;
  /** From the deletion of a pod until it is gone. */
  readonly termination: number;
  /** The shortest that is possible, for an earliest end. @default the typical times */
  readonly fastest?: { readonly start: number; readonly termination: number };
  /** Events closer than this happen together, which keeps the simulation of thousands of workers short. @default 1 */
  readonly resolution?: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Node = Mutable<SlurmNode> & { flags: Set<string> };

interface Pending {
  readonly at: number;
  readonly kind: 'ready' | 'gone';
  readonly uid: string;
}

export class VirtualWorld {
  readonly #base: Observed;
  readonly #durations: Durations;
  readonly #workers = new Map<string, Mutable<Worker>>();
  readonly #nodes = new Map<string, Node>();
  readonly #claims = new Map<string, Mutable<Claim>>();
  readonly #lastWrites: Map<string, number>;
  /** Slurm node → its jobs that have not ended. */
  readonly #jobs = new Map<string, SimulatedJob[]>();
  /** When jobs end, soonest last. */
  readonly #ends: number[];
  #pending: Pending[] = [];
  #orphans: Observed['orphans'];
  #released: Observed['released'];
  #hasFinalizer: boolean;
  #serial = 0;
  lostSince: number | undefined;
  currentRevision: string;

  constructor(from: Observed, jobs: readonly SimulatedJob[], durations: Durations, now: number) {
    this.#base = from;
    this.#durations = durations;
    for (const job of jobs)
      for (const node of job.nodes) this.#jobs.set(node, [...(this.#jobs.get(node) ?? []), job]);
    this.#ends = [...new Set(jobs.map(({ endsAt }) => endsAt))]
      .filter((at) => at > now && Number.isFinite(at))
      .toSorted((a, b) => b - a);
    this.#orphans = from.orphans;
    this.#released = from.released;
    this.#hasFinalizer = from.hasFinalizer;
    this.#lastWrites = new Map(from.lastWrites);
    this.lostSince = from.lostSince;
    this.currentRevision = from.currentRevision;
    for (const worker of from.workers) {
      this.#workers.set(worker.uid, { ...worker });
      if (worker.terminating) this.#expect('gone', worker.uid, now + durations.termination);
      else if (canBecomeReady(worker)) this.#expect('ready', worker.uid, now + durations.start);
    }
    for (const claim of from.claims) this.#claims.set(claim.name, { ...claim });
    if (from.slurm.kind === 'known')
      for (const node of from.slurm.nodes.values())
        this.#nodes.set(node.name, { ...node, flags: new Set(node.flags) });
  }

  get finalized(): boolean {
    return this.#base.deleting && !this.#hasFinalizer;
  }

  observe(now: number): Observed {
    const { slurm } = this.#base;
    return {
      ...this.#base,
      hasFinalizer: this.#hasFinalizer,
      orphans: this.#orphans,
      released: this.#released,
      workers: [...this.#workers.values()].map((worker) => ({ ...worker })),
      claims: [...this.#claims.values()].map((claim) => ({ ...claim })),
      slurm:
        slurm.kind === 'unknown'
          ? slurm
          : {
              ...slurm,
              at: now,
              nodes: new Map([...this.#nodes].map(([name, node]) => [name, this.#listed(node, now)])),
            },
      pendingNeeds: { kind: 'known', jobs: [] },
      lastWrites: new Map(this.#lastWrites),
      lostSince: this.lostSince,
      currentRevision: this.currentRevision,
    };
  }

  /** When something happens next without the operator. */
  nextEvent(after: number): number | undefined {
    let next = this.#ends.at(-1) ?? Number.POSITIVE_INFINITY;
    for (const { at } of this.#pending) next = Math.min(next, at);
    if (!Number.isFinite(next)) return undefined;
    const { resolution = 1 } = this.#durations;
    return Math.max(after, Math.ceil(next / resolution) * resolution);
  }

  /** Lets everything happen that is due; returns the workers that became ready or went. */
  pass(now: number): readonly { readonly kind: Pending['kind']; readonly name: string }[] {
    while ((this.#ends.at(-1) ?? Number.POSITIVE_INFINITY) <= now) this.#ends.pop();
    const due = this.#pending.filter(({ at }) => at <= now);
    this.#pending = this.#pending.filter(({ at }) => at > now);
    return due.flatMap(({ kind, uid }) => {
      const worker = this.#workers.get(uid);
      if (worker === undefined) return [];
      if (kind === 'gone') this.#workers.delete(uid);
      else if (worker.terminating) return [];
      else this.#becomeReady(worker, now);
      return [{ kind, name: worker.name }];
    });
  }

  carryOut(action: WorkerAction, now: number): void {
    switch (action.kind) {
      case 'add-finalizer':
        this.#hasFinalizer = true;
        return;
      case 'remove-finalizer':
        this.#hasFinalizer = false;
        return;
      case 'create-worker':
        return this.#create(action, now);
      case 'delete-worker':
        return this.#delete(action.uid, now);
      case 'adopt-worker':
        this.#orphans = this.#orphans.filter(({ uid }) => uid !== action.uid);
        return;
      case 'release-worker':
        this.#released = this.#released.filter(({ uid }) => uid !== action.uid);
        return;
      case 'patch-worker':
        return this.#patch(action);
      case 'mirror-state':
        return this.#mirror(action);
      case 'mark-claim':
      case 'own-claim':
      case 'delete-claim':
        return this.#changeClaim(action);
      case 'create-records':
      case 'mark-records':
      case 'power-up':
      case 'power-down':
      case 'mark-asleep':
      case 'fail-wake':
      case 'hold-asleep':
      case 'forbid-requeue':
        return; // Slurm decides when an autoscaled worker is needed; that is not simulated.
      default:
        return this.#changeNode(action, now);
    }
  }

  #expect(kind: Pending['kind'], uid: string, at: number): void {
    this.#pending.push({ at, kind, uid });
  }

  #create(action: Extract<WorkerAction, { kind: 'create-worker' }>, now: number): void {
    const { slot, revision, pinnedTo, forWakeUp = false } = action;
    this.#serial += 1;
    const slurmName = slurmNameOf(slot, this.#base) ?? '';
    const uid = `simulated-${this.#serial}`;
    const key = slot.mode === 'StatefulSet' ? String(slot.ordinal) : slot.nodeName;
    this.#workers.set(uid, {
      name: `${this.#base.name}-${key}`,
      uid,
      resourceVersion: '1',
      slot,
      slurmName,
      address: uid,
      revision: revision ?? this.#base.updateRevision,
      hashes: this.#base.hashes,
      phase: 'Pending',
      nodeName: slot.mode === 'DaemonSet' ? slot.nodeName : (pinnedTo ?? uid),
      placedAt: now,
      nodeReachable: true,
      ready: false,
      readySince: undefined,
      startedAt: undefined,
      everStarted: false,
      cannotStart: false,
      forWakeUp,
      containersDead: false,
      endedAt: undefined,
      problem: undefined,
      terminating: false,
      endsBy: undefined,
      createdAt: now,
      cordoned: false,
      cordonCause: undefined,
      deletionCost: 0,
      deadline: undefined,
      writtenDeadline: undefined,
      protectedFromEviction: false,
      topology: undefined,
      slurmConditions: new Map(),
      claims: this.#base.claimTemplates.map((template) => `${template}-${slurmName}`),
    });
    this.#expect('ready', uid, now + this.#durations.start);
  }

  /** A pod without a node is gone at once. */
  #delete(uid: string, now: number): void {
    const worker = this.#workers.get(uid);
    if (worker === undefined || worker.terminating) return;
    if (!worker.everStarted && worker.nodeName === undefined) this.#workers.delete(uid);
    else if (worker.nodeReachable) {
      Object.assign(worker, { terminating: true, endsBy: now + this.#durations.termination });
      this.#expect('gone', uid, now + this.#durations.termination);
    } else Object.assign(worker, { terminating: true, endsBy: now });
  }

  /** slurmd registers under the record that its name has, and keeps the drain on it until the plan ends that. */
  #becomeReady(worker: Mutable<Worker>, now: number): void {
    Object.assign(worker, {
      phase: 'Running',
      ready: true,
      readySince: now,
      startedAt: now,
      everStarted: true,
      containersDead: false,
      endedAt: undefined,
    });
    const known = this.#nodes.get(worker.slurmName);
    if (known !== undefined && !known.ours) return;
    this.#nodes.set(worker.slurmName, {
      ...(known ?? newNode(worker.slurmName, this.#base)),
      base: 'IDLE',
      flags: new Set([...(known?.flags ?? [])].filter((flag) => flag !== 'NOT_RESPONDING')),
      address: worker.address ?? '',
      instanceId: worker.uid,
      slurmdStartedAt: now,
    });
  }

  #patch(action: Extract<WorkerAction, { kind: 'patch-worker' }>): void {
    const worker = this.#workers.get(action.uid);
    if (worker === undefined) return;
    if (action.cordon !== undefined)
      Object.assign(worker, { cordoned: action.cordon.cordoned, cordonCause: action.cordon.cause });
    if (action.deadline !== undefined)
      worker.deadline = worker.writtenDeadline = action.deadline ?? undefined;
    if (action.protect !== undefined) worker.protectedFromEviction = action.protect;
    if (action.topology !== undefined) worker.topology = action.topology ?? undefined;
  }

  #mirror({ uid, conditions, over }: Extract<WorkerAction, { kind: 'mirror-state' }>): void {
    const worker = this.#workers.get(uid);
    if (worker === undefined) return;
    const kept = [...worker.slurmConditions].filter(([type]) => !over.includes(type));
    worker.slurmConditions = new Map([...kept, ...conditions]);
  }

  #changeClaim(action: Extract<WorkerAction, { kind: 'mark-claim' | 'own-claim' | 'delete-claim' }>): void {
    const claim = this.#claims.get(action.name);
    if (claim === undefined) return;
    if (action.kind === 'mark-claim') claim.scaledIn = action.scaledIn;
    else if (action.kind === 'own-claim') claim.ownedByNodeSet = action.owned;
    else this.#claims.delete(action.name);
  }

  #changeNode(
    action: Extract<
      WorkerAction,
      { kind: 'drain' | 'keep-down' | 'undrain' | 'set-down' | 'delete-record' | 'update-node' }
    >,
    now: number,
  ): void {
    this.#lastWrites.set(action.slurmName, now);
    const node = this.#nodes.get(action.slurmName);
    if (node === undefined) return;
    switch (action.kind) {
      case 'drain':
      case 'keep-down':
        node.flags.add('DRAIN');
        node.reason = action.reason;
        return;
      case 'undrain':
        node.flags.delete('DRAIN');
        node.reason = '';
        return;
      case 'set-down':
        this.#jobs.delete(node.name);
        Object.assign(node, { base: 'DOWN', reason: action.reason });
        return;
      case 'delete-record':
        this.#nodes.delete(node.name);
        return;
      case 'update-node':
        if (action.comment !== undefined) node.comment = action.comment;
        if (action.features !== undefined) node.features = action.features;
        if (action.topology !== undefined) node.topology = action.topology;
        return;
      default:
        action satisfies never;
    }
  }

  /** A node with the load of its jobs, as a list shows it. */
  #listed(node: Node, now: number): SlurmNode {
    const mine = (this.#jobs.get(node.name) ?? []).filter(({ endsAt }) => endsAt > now);
    const flags = new Set([...node.flags].filter((flag) => flag !== 'COMPLETING'));
    if (mine.length > 0)
      return {
        ...node,
        flags,
        base: node.base === 'DOWN' ? 'DOWN' : 'ALLOCATED',
        deadline: Math.max(...mine.map(({ deadline }) => deadline)),
      };
    const wasBusy = node.base === 'ALLOCATED' || node.base === 'MIXED';
    return { ...node, flags, base: wasBusy ? 'IDLE' : node.base, deadline: undefined };
  }
}

/** A pod that Kubernetes reports as broken or cannot place is not expected to become ready. */
const canBecomeReady = (worker: Worker): boolean =>
  !worker.ready && worker.phase === 'Pending' && worker.problem === undefined && !worker.cannotStart;

function newNode(name: string, { size, features = [] }: Observed): Node {
  return {
    name,
    base: 'IDLE',
    flags: new Set(),
    reason: '',
    comment: '',
    features,
    topology: '',
    size,
    address: '',
    instanceId: undefined,
    slurmdStartedAt: undefined,
    deadline: undefined,
    ours: true,
    reservation: undefined,
  };
}
