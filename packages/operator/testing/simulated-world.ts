/**
 * A Kubernetes of a few hundred lines beside a Slurm (`SimulatedSlurm`), for the laws of the NodeSet plan: pods that start, fail and
 * get lost, kubelets that report it late, answers of Slurm that are old, missing or gone. Everything happens when the test says so.
 */
import type { WorkerAction } from '../src/kinds/nodeset/model/actions.ts';
import {
  type Claim,
  type KubeNode,
  type Observed,
  type SlurmView,
  slotKey,
  slurmNameOf,
  type Worker,
} from '../src/kinds/nodeset/model/observed.ts';
import { LawBroken } from './check-laws.ts';
import { kubeNode, pendingPod } from './observed.ts';
import { SimulatedSlurm } from './simulated-slurm.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Spec = Mutable<
  Pick<
    Observed,
    | 'scalingMode'
    | 'replicas'
    | 'autoscale'
    | 'minReadySeconds'
    | 'deletionPolicy'
    | 'updateRevision'
    | 'update'
    | 'retention'
    | 'deleting'
  >
>;

export class SimulatedWorld {
  now = 1_000_000_000_000;
  readonly spec: Spec;
  readonly pods = new Map<string, Mutable<Worker>>();
  readonly claims = new Map<string, Mutable<Claim>>();
  readonly kubeNodes = new Map<string, Mutable<KubeNode> & { reachable: boolean }>();
  readonly slurm = new SimulatedSlurm();
  controllerExists = true;
  /** False: no machine gets the image of a pod that it has yet to start. */
  imageComes = true;
  /** Where pods are scheduled; `one-each`: on machines that have none. */
  placement: 'anywhere' | 'one-each' | 'nowhere' = 'anywhere';
  /** Pods that run although Kubernetes has not been told yet: uid → since when. */
  readonly unseen = new Map<string, number>();
  /** As the status tells it. */
  currentRevision = '';
  hasFinalizer = false;
  finalized = false;
  /** The operator's memory; lost when it crashes. */
  lastWrites = new Map<string, number>();
  lostSince: number | undefined;
  gaveUp = new Map<string, string>();
  /** What the operator's cache holds while its watch is behind; its own writes are always in it. */
  #cached: Map<string, Worker> | undefined;
  #view: SlurmView = { kind: 'unknown', since: 0, why: 'not asked yet' };
  #serial = 0;
  readonly done: WorkerAction[] = [];

  constructor(spec: Spec, nodes: number) {
    this.spec = spec;
    for (let i = 0; i < nodes; i += 1) this.addNode(`machine-${i}`);
  }

  addNode(name: string): void {
    this.kubeNodes.set(name, { ...kubeNode(name), reachable: true });
  }

  observe(): Observed {
    return {
      ...this.spec,
      currentRevision: this.currentRevision,
      namespace: 'slurm',
      name: 'workers',
      uid: 'nodeset-uid',
      naming: { prefix: 'workers-', padding: 0 },
      configLines: { state: 'external', held: [] },
      controllerExists: this.controllerExists,
      controllerName: 'slurm',
      hasFinalizer: this.hasFinalizer,
      updateHeld: undefined,
      hashes: {},
      protectBusyPods: true,
      claimTemplates: ['data'],
      size: { cpus: undefined, memory: undefined, gpus: undefined },
      workers: [...(this.#cached ?? this.pods).values()].map((pod) => this.#seen({ ...pod })),
      orphans: [],
      released: [],
      foreignPods: [],
      takenNames: new Map(),
      yieldedNames: new Set(),
      claims: [...this.claims.values()],
      nodes: new Map(this.kubeNodes),
      slurm: this.#view,
      pendingNeeds: { kind: 'known', jobs: [] },
      lastWrites: new Map(this.lastWrites),
      backoff: new Map(),
      refusals: new Map(),
      lostSince: this.lostSince,
      gaveUp: new Map(this.gaveUp),
      pruneRecords: 'NodeNotFound',
    };
  }

  /** The operator's poller: a whole list, as Slurm is at this moment. */
  refreshView(): void {
    this.#view = this.slurm.list(this.now);
    // As the memory of a NodeSet keeps it.
    for (const name of this.gaveUp.keys()) if (!this.slurm.isPoweringUp(name)) this.gaveUp.delete(name);
    this.now += 1;
  }

  /** Whether the list that the operator goes by has such a node. */
  lists(slurmName: string): boolean {
    return this.#view.kind === 'known' && this.#view.nodes.has(slurmName);
  }

  /** From now on the operator hears nothing of what others do to pods. */
  cacheLags(): void {
    this.#cached ??= new Map([...this.pods].map(([name, pod]) => [name, { ...pod }]));
  }

  cacheCatchesUp(): void {
    this.#cached = undefined;
  }

  crashOperator(): void {
    this.cacheCatchesUp();
    this.lastWrites = new Map();
    this.lostSince = undefined;
    this.gaveUp = new Map();
    this.#view = { kind: 'unknown', since: this.now, why: 'not asked yet' };
  }

  /** Carries out one action as `act` does, checks included. Throws where a law is broken for real. */
  act(action: WorkerAction): void {
    this.now += 1;
    this.done.push(action);
    const cached = this.#cached;
    const before = new Map(cached && [...this.pods].map(([name, pod]) => [name, versionOf(pod)]));
    this.#carryOut(action);
    if (cached === undefined) return;
    for (const [name, pod] of this.pods)
      if (before.get(name) !== versionOf(pod)) cached.set(name, { ...pod });
    for (const name of before.keys()) if (!this.pods.has(name)) cached.delete(name);
  }

  /** Few ask for the version, and it takes its time. */
  #seen(pod: Mutable<Worker>): Worker {
    pod.nodeReachable = this.#reachable(pod);
    const snapshot = { ...pod };
    return Object.defineProperty(pod, 'resourceVersion', {
      get: () => versionOf(snapshot),
      enumerable: true,
    });
  }

  #carryOut(action: WorkerAction): void {
    switch (action.kind) {
      case 'add-finalizer':
        this.hasFinalizer = true;
        return;
      case 'remove-finalizer':
        [this.hasFinalizer, this.finalized] = [false, true];
        return;
      case 'create-worker':
        return this.#create(action);
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
      case 'adopt-worker':
      case 'release-worker':
      case 'forbid-requeue':
        return; // nothing removes labels or owners here, or requeues jobs
      case 'mark-claim':
        return this.#claim(action.name, (claim) => (claim.scaledIn = action.scaledIn));
      case 'own-claim':
        return this.#claim(action.name, (claim) => (claim.ownedByNodeSet = action.owned));
      case 'delete-claim':
        this.claims.delete(action.name);
        return;
      case 'create-records':
      case 'mark-records':
      case 'power-up':
      case 'power-down':
      case 'fail-wake':
      case 'hold-asleep':
      case 'mark-asleep': {
        if (!this.slurm.reachable) return;
        const names = new Set([...this.pods.values()].map((pod) => pod.slurmName));
        for (const name of action.slurmNames) this.lastWrites.set(name, this.now);
        this.now += 1;
        if (action.kind === 'fail-wake') for (const name of action.slurmNames) this.gaveUp.delete(name);
        return this.slurm.power.change(action, names, this.now);
      }
      default:
        if (!this.slurm.reachable) return;
        this.lastWrites.set(action.slurmName, this.now);
        this.now += 1;
        return this.slurm.change(action, (pod) => this.#lives(pod), this.pods.values());
    }
  }

  #create({ slot, ...made }: Extract<WorkerAction, { kind: 'create-worker' }>): void {
    const { revision = this.spec.updateRevision, forWakeUp = false } = made;
    const key = slotKey(slot);
    const suffix = slot.mode === 'StatefulSet' ? slot.ordinal : `${slot.nodeName}-${this.#serial}`;
    const name = `workers-${suffix}`;
    if (this.pods.has(name)) return;
    this.#serial += 1;
    const uid = `pod-${this.#serial}`;
    const claim = `data-${key}`;
    if (!this.claims.has(claim)) {
      const ownedByNodeSet = this.spec.retention.whenDeleted === 'Delete';
      const marks = { name: claim, uid: `claim-${this.#serial}`, slot, ownedByNodeSet };
      this.claims.set(claim, { ...marks, scaledIn: false, terminating: false });
    }
    const naming = { prefix: 'workers-', padding: 0 };
    const slurmName = slurmNameOf(slot, { naming, nodes: this.kubeNodes }) ?? '?';
    const pod = { name, uid, slot, slurmName, revision, claims: [claim], forWakeUp };
    this.pods.set(name, pendingPod(pod, this.now));
  }

  #patch(action: Extract<WorkerAction, { kind: 'patch-worker' }>): void {
    const pod = this.pods.get(action.name);
    if (pod === undefined || pod.uid !== action.uid) return;
    if (action.resourceVersion !== undefined && action.resourceVersion !== versionOf(pod)) return;
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

  #delete(action: Extract<WorkerAction, { kind: 'delete-worker' }>): void {
    const pod = this.pods.get(action.name);
    if (pod === undefined || pod.uid !== action.uid || pod.terminating) return;
    if (!this.#confirms(action)) return;
    if (action.resourceVersion !== undefined && action.resourceVersion !== versionOf(pod)) return;
    this.#joinsMeanwhile(pod);
    const asked = action.because === 'user-asked' || action.because === 'no-controller';
    if (asked && !this.spec.deleting)
      throw new LawBroken(
        `L1: ${pod.name} deleted as ${action.because} although the NodeSet is not being deleted`,
      );
    if (!asked && (pod.everStarted || this.unseen.has(pod.uid)) && this.slurm.runs(pod.slurmName))
      throw new LawBroken(`L1: ${pod.name} deleted while it runs a job (${action.because})`);
    if (action.because === 'never-started' && this.unseen.has(pod.uid))
      throw new LawBroken(`L1: ${pod.name} deleted as never started, though it runs`);
    if (action.gaveUp !== undefined) this.gaveUp.set(pod.slurmName, action.gaveUp);
    if (!pod.everStarted && pod.nodeName === undefined) this.pods.delete(pod.name);
    else Object.assign(pod, { terminating: true, endsBy: this.now + gracePeriod });
  }

  /** `act` fetches a list for the purpose and looks once more. */
  #confirms({ because, slurmName }: Extract<WorkerAction, { kind: 'delete-worker' }>): boolean {
    const slurmsWord = ['drained', 'drained-by-other', 'unknown-to-slurm', 'powered-down', 'not-accepted'];
    if (!slurmsWord.includes(because)) return true;
    if (!this.slurm.reachable) return false;
    const node = this.slurm.nodes.get(slurmName);
    if (node === undefined) return because === 'unknown-to-slurm';
    // Without the jobs a node whose only work is suspended looks as idle as any other.
    const seenBusy = this.slurm.listsJobs ? this.slurm.isBusy(slurmName) : true;
    if (because === 'not-accepted') return node.flags.has('POWERING_UP');
    if (because === 'powered-down')
      return !seenBusy && (node.flags.has('POWERING_DOWN') || node.flags.has('POWERED_DOWN'));
    return !seenBusy && node.flags.has('DRAIN');
  }

  /** A slurmd that has only just been started joins, and is given work, while a delete of its pod is on the way. */
  #joinsMeanwhile(pod: Worker): void {
    const running = this.#lives(pod);
    if (!running && (pod.phase !== 'Pending' || pod.cannotStart || !this.imageComes)) return;
    const placed = pod.placedAt ?? Number.NEGATIVE_INFINITY;
    if (!this.#reachable(pod) || this.now - Math.max(placed, pod.startedAt ?? placed) > aMoment) return;
    if (!running) this.unseen.set(pod.uid, this.now);
    this.slurm.join(pod, this.now);
  }

  #claim(name: string, change: (claim: Mutable<Claim>) => void): void {
    const claim = this.claims.get(name);
    if (claim !== undefined) change(claim);
  }

  // What goes on in the world besides the operator.

  /** Kubernetes does what it can: binds, starts, reports the starts it has not reported yet, ends. */
  kubeWorks(): void {
    for (const pod of this.pods.values()) {
      if (pod.terminating && this.#reachable(pod)) {
        this.pods.delete(pod.name);
        const lost = (node: string) => node === pod.slurmName && !this.#otherPodBehind(node);
        this.slurm.jobs = this.slurm.jobs.filter((job) => job.waits || !lost(job.node));
        continue;
      }
      if (pod.phase === 'Running' && this.unseen.has(pod.uid)) this.#startOrTell(pod);
      if (pod.phase !== 'Pending' || pod.terminating) continue;
      pod.nodeName ??= this.#machineFor(pod);
      if (pod.nodeName === undefined) continue;
      pod.placedAt ??= this.now;
      this.#startOrTell(pod);
    }
  }

  /** The kubelet of a machine that is cut off starts what it was given too, but cannot report it. */
  #startOrTell(pod: Mutable<Worker>): void {
    const startedAt = this.unseen.get(pod.uid);
    if (startedAt === undefined && !this.imageComes) {
      if (this.#reachable(pod)) pod.cannotStart = true;
      return;
    }
    if (startedAt === undefined) {
      pod.cannotStart = false;
      this.unseen.set(pod.uid, this.now);
      return;
    }
    if (!this.#reachable(pod)) return;
    this.unseen.delete(pod.uid);
    Object.assign(pod, {
      phase: 'Running',
      everStarted: true,
      containersDead: false,
      endedAt: undefined,
      startedAt,
      ready: true,
      readySince: this.now,
    });
  }

  #otherPodBehind(slurmName: string): boolean {
    return [...this.pods.values()].some((pod) => pod.slurmName === slurmName && !pod.terminating);
  }

  #machineFor(pod: Worker): string | undefined {
    if (pod.slot.mode === 'DaemonSet')
      return this.kubeNodes.has(pod.slot.nodeName) ? pod.slot.nodeName : undefined;
    const used = new Set([...this.pods.values()].map((other) => other.nodeName));
    const free = [...this.kubeNodes.values()].filter((node) => node.reachable && !node.unschedulable);
    if (this.placement === 'nowhere') return undefined;
    const empty = free.find((node) => !used.has(node.name));
    return (this.placement === 'one-each' ? empty : (empty ?? free[0]))?.name;
  }

  /** slurmd of running pods register, reported or not; jobs start where they may. */
  slurmWorks(submit: number): void {
    const running = [...this.pods.values()].filter((pod) => this.#lives(pod));
    const heard = running.filter((pod) => this.#reachable(pod));
    this.slurm.work(heard, new Set(running.map((pod) => pod.slurmName)), submit, this.now);
  }

  failPod(pod: Mutable<Worker>): void {
    this.unseen.delete(pod.uid);
    Object.assign(pod, { phase: 'Failed', ready: false, containersDead: true, endedAt: this.now });
  }

  /** slurmd exits, and its jobs end; the kubelet restarts it at once, but has only reported the end so far. */
  restartSlurmd(pod: Mutable<Worker>): void {
    Object.assign(pod, { ready: false, containersDead: true, endedAt: this.now, startedAt: undefined });
    this.unseen.set(pod.uid, this.now);
    this.slurm.restarted(pod, this.now);
  }

  #lives(pod: Worker): boolean {
    return this.unseen.has(pod.uid) || (pod.phase === 'Running' && !pod.containersDead);
  }

  #reachable(pod: Worker): boolean {
    return pod.nodeName === undefined || (this.kubeNodes.get(pod.nodeName)?.reachable ?? true);
  }
}

const gracePeriod = 30_000;

/** How long after its start a slurmd has joined, or has failed to. */
const aMoment = 50_000;

/** Equal for equal pods, as resourceVersions are. */
function versionOf(pod: Worker): string {
  const { slurmConditions, resourceVersion: _, nodeReachable: _reachable, ...plain } = pod;
  return JSON.stringify([plain, [...slurmConditions]]);
}
