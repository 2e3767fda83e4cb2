/**
 * A Kubernetes and a Slurm of a few hundred lines, for the laws of the NodeSet plan: pods that start, fail and get lost, nodes
 * that register and take work, answers of Slurm that are late, missing or gone. Everything happens when the test says so.
 */
import type { Action } from '../src/nodeset/plan/actions.ts';

import {
  type Claim,
  type KubeNode,
  type Observed,
  type Slot,
  type SlurmNode,
  type SlurmView,
  slotKey,
  slurmNameOf,
  type Worker,
} from '../src/nodeset/plan/observed.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Spec = Mutable<
  Pick<
    Observed,
    | 'scalingMode'
    | 'replicas'
    | 'minReadySeconds'
    | 'deletionPolicy'
    | 'updateRevision'
    | 'update'
    | 'retention'
    | 'deleting'
  >
>;

export interface Job {
  readonly id: number;
  readonly node: string;
  readonly ends: number;
}

/** What the plan must never do; the test fails on the first. */
export class LawBroken extends Error {}

export class SimulatedWorld {
  now = 1_000_000_000_000;
  readonly spec: Spec;
  readonly pods = new Map<string, Mutable<Worker>>();
  readonly claims = new Map<string, Mutable<Claim>>();
  readonly kubeNodes = new Map<string, Mutable<KubeNode> & { reachable: boolean }>();
  readonly slurm = new Map<string, Mutable<SlurmNode> & { flags: Set<string> }>();
  jobs: Job[] = [];
  slurmReachable = true;
  controllerExists = true;
  controllerStartedAt = 0;
  /** Pods that run although Kubernetes was never told. */
  readonly unseen = new Set<string>();
  hasFinalizer = false;
  finalized = false;
  /** The operator's memory; lost when it crashes. */
  lastWrites = new Map<string, number>();
  #view: SlurmView = { kind: 'unknown', since: 0, why: 'not asked yet' };
  #serial = 0;
  #registrations = 0;
  readonly done: Action[] = [];

  constructor(spec: Spec, nodes: number) {
    this.spec = spec;
    for (let i = 0; i < nodes; i += 1) this.addNode(`machine-${i}`);
  }

  addNode(name: string): void {
    this.kubeNodes.set(name, {
      name,
      unschedulable: false,
      cordonReason: undefined,
      topology: undefined,
      features: [],
      eligible: true,
      workerHostname: name,
      reachable: true,
    });
  }

  observe(): Observed {
    return {
      ...this.spec,
      namespace: 'slurm',
      name: 'workers',
      uid: 'nodeset-uid',
      naming: { prefix: 'workers-', padding: 0 },
      controllerExists: this.controllerExists,
      hasFinalizer: this.hasFinalizer,
      updateHeld: undefined,
      hashes: {},
      protectBusyPods: true,
      claimTemplates: ['data'],
      size: { cpus: undefined, memory: undefined, gpus: undefined },
      workers: [...this.pods.values()].map((pod) => ({ ...pod, nodeReachable: this.#reachable(pod) })),
      orphans: [],
      released: [],
      strangers: [],
      claims: [...this.claims.values()],
      nodes: new Map(this.kubeNodes),
      slurm: this.#view,
      lastWrites: new Map(this.lastWrites),
      backoff: new Map(),
      pruneRecords: 'NodeNotFound',
    };
  }

  /** The operator's poller: a whole list, as Slurm is at this moment. */
  refreshView(): void {
    if (!this.slurmReachable) {
      this.#view = { kind: 'unknown', since: this.now, why: 'connection refused' };
      return;
    }
    const nodes = new Map(
      [...this.slurm].map(([name, node]) => [
        name,
        { ...node, flags: new Set(node.flags), ...this.#load(name) },
      ]),
    );
    this.#view = { kind: 'known', at: this.now, nodes, controllerStartedAt: this.controllerStartedAt };
    this.now += 1;
  }

  crashOperator(): void {
    this.lastWrites = new Map();
    this.#view = { kind: 'unknown', since: this.now, why: 'not asked yet' };
  }

  /** Carries out one action as `act` does, checks included. Throws where a law is broken for real. */
  act(action: Action): void {
    this.now += 1;
    this.done.push(action);
    switch (action.kind) {
      case 'add-finalizer':
        this.hasFinalizer = true;
        return;
      case 'remove-finalizer':
        this.hasFinalizer = false;
        this.finalized = true;
        return;
      case 'create-worker':
        return this.#create(action.slot);
      case 'adopt-worker':
      case 'release-worker':
        return; // nobody takes labels or owners away here
      case 'patch-worker':
        return this.#patch(action);
      case 'mirror-state': {
        const pod = this.pods.get(action.name);
        if (pod?.uid !== action.uid) return;
        const kept = [...pod.slurmConditions].filter(([type]) => !action.over.includes(type));
        pod.slurmConditions = new Map([...kept, ...action.conditions]);
        return;
      }
      case 'delete-worker':
        return this.#delete(action);
      case 'mark-claim':
        return this.#claim(action.name, (claim) => (claim.scaledIn = action.scaledIn));
      case 'own-claim':
        return this.#claim(action.name, (claim) => (claim.ownedByNodeSet = action.owned));
      case 'delete-claim':
        this.claims.delete(action.name);
        return;
      default:
        return this.#actOnSlurm(action);
    }
  }

  #actOnSlurm(action: Extract<Action, { slurmName: string }>): void {
    if (!this.slurmReachable) return;
    const node = this.slurm.get(action.slurmName);
    this.lastWrites.set(action.slurmName, this.now);
    this.now += 1;
    if (node === undefined) return; // gone means done
    switch (action.kind) {
      case 'drain':
        node.flags.add('DRAIN');
        node.reason = action.reason;
        return;
      case 'undrain':
        node.flags.delete('DRAIN');
        node.reason = '';
        return;
      case 'set-down': {
        const pod = [...this.pods.values()].find((candidate) => candidate.slurmName === node.name);
        if (pod === undefined || !pod.containersDead)
          throw new LawBroken(`L11: ${node.name} set DOWN though its containers may live`);
        node.base = 'DOWN';
        node.reason = action.reason;
        this.jobs = this.jobs.filter((job) => job.node !== node.name);
        return;
      }
      case 'delete-record':
        if (!this.#isBusy(node.name)) this.slurm.delete(node.name);
        return;
      case 'update-node':
        if (action.comment !== undefined) node.comment = action.comment;
        if (action.features !== undefined) node.features = action.features;
        if (action.topology !== undefined) node.topology = action.topology;
        return;
      default:
        return;
    }
  }

  #create(slot: Slot): void {
    const key = slotKey(slot);
    const name =
      slot.mode === 'StatefulSet' ? `workers-${slot.ordinal}` : `workers-${slot.nodeName}-${this.#serial}`;
    if (this.pods.has(name)) return;
    this.#serial += 1;
    const claim = `data-${key}`;
    if (!this.claims.has(claim)) {
      this.claims.set(claim, {
        name: claim,
        uid: `claim-${this.#serial}`,
        slot,
        ownedByNodeSet: this.spec.retention.whenDeleted === 'Delete',
        scaledIn: false,
        terminating: false,
      });
    }
    this.pods.set(name, {
      name,
      uid: `pod-${this.#serial}`,
      slot,
      slurmName:
        slurmNameOf(slot, { naming: { prefix: 'workers-', padding: 0 }, nodes: this.kubeNodes }) ?? '?',
      address: `address-of-pod-${this.#serial}`,
      revision: this.spec.updateRevision,
      hashes: {},
      phase: 'Pending',
      nodeName: undefined,
      placedAt: undefined,
      nodeReachable: true,
      ready: false,
      readySince: undefined,
      startedAt: undefined,
      everStarted: false,
      containersDead: false,
      trouble: undefined,
      terminating: false,
      createdAt: this.now,
      cordoned: false,
      cordonCause: undefined,
      deletionCost: 0,
      deadline: undefined,
      writtenDeadline: undefined,
      protectedFromEviction: false,
      topology: undefined,
      slurmConditions: new Map(),
      claims: [claim],
    });
  }

  #patch(action: Extract<Action, { kind: 'patch-worker' }>): void {
    const pod = this.pods.get(action.name);
    if (pod === undefined || pod.uid !== action.uid) return;
    if (action.cordon !== undefined) {
      if (pod.cordoned && pod.cordonCause === undefined)
        throw new LawBroken(`a cordon by a person was overwritten on ${pod.name}`);
      pod.cordoned = action.cordon.cordoned;
      pod.cordonCause = action.cordon.cause;
    }
    if (action.deadline !== undefined) pod.writtenDeadline = pod.deadline = action.deadline ?? undefined;
    if (action.protect !== undefined) pod.protectedFromEviction = action.protect;
    if (action.topology !== undefined) pod.topology = action.topology ?? undefined;
  }

  #delete(action: Extract<Action, { kind: 'delete-worker' }>): void {
    const pod = this.pods.get(action.name);
    if (pod === undefined || pod.uid !== action.uid || pod.terminating) return;
    if (action.because === 'drained' || action.because === 'unknown-to-slurm') {
      // `act` fetches a list for the purpose and looks once more.
      if (!this.slurmReachable) return;
      const node = this.slurm.get(pod.slurmName);
      if (node !== undefined && (!node.flags.has('DRAIN') || this.#isBusy(node.name))) return;
    }
    const asked = action.because === 'user-asked' || action.because === 'no-controller';
    if (asked && !this.spec.deleting)
      throw new LawBroken(
        `L1: ${pod.name} deleted as ${action.because} although the NodeSet is not being deleted`,
      );
    if (!asked && pod.everStarted && this.#isBusy(pod.slurmName))
      throw new LawBroken(`L1: ${pod.name} deleted while it runs a job (${action.because})`);
    if (action.because === 'never-started' && this.unseen.has(pod.uid))
      throw new LawBroken(`L1: ${pod.name} deleted as never started, though it runs`);
    if (!pod.everStarted && pod.nodeName === undefined) this.pods.delete(pod.name);
    else pod.terminating = true;
  }

  #claim(name: string, change: (claim: Mutable<Claim>) => void): void {
    const claim = this.claims.get(name);
    if (claim !== undefined) change(claim);
  }

  // What goes on in the world besides the operator.

  /** Kubernetes does what it can at once: binds, starts, ends. */
  kubeWorks(): void {
    for (const pod of this.pods.values()) {
      if (pod.terminating && this.#reachable(pod)) {
        this.pods.delete(pod.name);
        this.jobs = this.jobs.filter((job) => job.node !== pod.slurmName || this.#otherPodBehind(job.node));
        continue;
      }
      if (pod.phase !== 'Pending' || pod.terminating) continue;
      pod.nodeName ??= this.#machineFor(pod);
      if (pod.nodeName === undefined) continue;
      pod.placedAt ??= this.now;
      // The kubelet of a machine that is cut off starts what it was given; only nobody hears of it.
      if (!this.#reachable(pod)) {
        this.unseen.add(pod.uid);
        continue;
      }
      Object.assign(pod, {
        phase: 'Running',
        everStarted: true,
        startedAt: this.now,
        ready: true,
        readySince: this.now,
      });
    }
  }

  #otherPodBehind(slurmName: string): boolean {
    return [...this.pods.values()].some((pod) => pod.slurmName === slurmName && !pod.terminating);
  }

  #machineFor(pod: Worker): string | undefined {
    if (pod.slot.mode === 'DaemonSet')
      return this.kubeNodes.has(pod.slot.nodeName) ? pod.slot.nodeName : undefined;
    const used = new Set([...this.pods.values()].map((other) => other.nodeName));
    const free = [...this.kubeNodes.values()].filter((node) => node.reachable && !node.unschedulable);
    return (free.find((node) => !used.has(node.name)) ?? free[0])?.name;
  }

  /** slurmd of running pods register; work starts where it may. */
  slurmWorks(submit: number): void {
    for (const pod of this.pods.values()) {
      if (pod.phase !== 'Running' || pod.containersDead || !this.#reachable(pod)) continue;
      const known = this.slurm.get(pod.slurmName);
      if (known === undefined) this.slurm.set(pod.slurmName, freshNode(pod, this.now));
      else if (known.address !== pod.address) {
        const { instanceId, address, slurmdStartedAt } = freshNode(pod, this.now);
        Object.assign(known, { address, slurmdStartedAt, base: 'IDLE' });
        // Slurm sometimes misses the one message that tells it.
        if ((this.#registrations += 1) % 3 !== 0) Object.assign(known, { instanceId });
      }
    }
    this.jobs = this.jobs.filter((job) => job.ends > this.now);
    let left = submit;
    for (const node of this.slurm.values()) {
      const alive = [...this.pods.values()].some(
        (pod) => pod.slurmName === node.name && pod.phase === 'Running' && !pod.containersDead,
      );
      if (left > 0 && alive && !node.flags.has('DRAIN') && node.base !== 'DOWN' && !this.#isBusy(node.name)) {
        this.jobs.push({ id: (this.#serial += 1), node: node.name, ends: this.now + 50_000 });
        left -= 1;
      }
    }
  }

  failPod(pod: Mutable<Worker>): void {
    Object.assign(pod, { phase: 'Failed', ready: false, containersDead: true });
  }

  #isBusy(node: string): boolean {
    return this.jobs.some((job) => job.node === node);
  }

  /** Allocation and deadline as a list shows them. */
  #load(name: string): Pick<SlurmNode, 'base' | 'deadline' | 'ours'> {
    const ends = this.jobs.filter((job) => job.node === name).map((job) => job.ends);
    const base = this.slurm.get(name)?.base ?? 'UNKNOWN';
    return {
      base: ends.length > 0 && base !== 'DOWN' ? 'ALLOCATED' : base,
      deadline: ends.length > 0 ? Math.max(...ends) : undefined,
      ours: true,
    };
  }

  #reachable(pod: Worker): boolean {
    return pod.nodeName === undefined || (this.kubeNodes.get(pod.nodeName)?.reachable ?? true);
  }
}

function freshNode(pod: Worker, now: number): Mutable<SlurmNode> & { flags: Set<string> } {
  return {
    name: pod.slurmName,
    base: 'IDLE',
    flags: new Set(),
    reason: '',
    comment: '',
    features: [],
    topology: '',
    size: { cpus: 1, memory: 1, gpus: 0 },
    address: pod.address ?? '',
    instanceId: pod.uid,
    slurmdStartedAt: now,
    deadline: undefined,
    ours: true,
    reservation: undefined,
  };
}
