/**
 * Takes care of one pod on one node, from its binding to the last trace of it. Everything happens in one loop: look at
 * the pod and at what runs, do the next thing, report, wait to be woken. So no two things ever happen at once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Container, Pod } from '../../objects/objects.ts';
import { isTerminating } from '../../objects/pods.ts';
import { canonicalJson } from '../../objects/template-hash.ts';
import { AgentError } from '../errors.ts';
import { superviseContainer } from '../probes/prober.ts';
import type { ProbeTarget } from '../probes/run-probe.ts';
import type { RunningContainer } from '../runtime/container.ts';
import { type LogWriter, logTail } from '../runtime/log-file.ts';
import { PodSandbox } from '../runtime/sandbox.ts';
import { PodVolumes, slowRefreshMs } from '../volumes/pod-volumes.ts';
import { type ContainerRecord, newRecord, type Termination } from './container-record.ts';
import {
  logPath,
  type NodeSurroundings,
  type StartedContainer,
  startContainer,
} from './container-starter.ts';
import { runHook } from './lifecycle-hook.ts';
import { backOffAfter, isSidecar, planPod } from './plan.ts';
import { hostnameOf } from './pod-files.ts';
import { recordsFrom } from './recover.ts';
import { phaseOf, podStatus } from './status.ts';

interface Live {
  readonly running: RunningContainer;
  readonly log: LogWriter;
  readonly probes: AbortController;
}

export interface WorkerSurroundings extends NodeSurroundings {
  readonly takeAddress: () => string;
  readonly giveAddress: (address: string) => void;
  readonly suspended: () => boolean;
}

/** Between two looks when nothing wakes us: also the pace at which ConfigMaps and Secrets are looked at again. */
const idleMs = 20_000;

export class PodWorker {
  readonly uid: string;
  readonly done: Promise<void>;
  readonly #node: WorkerSurroundings;
  readonly #directory: string;
  readonly #records = new Map<string, ContainerRecord>();
  readonly #live = new Map<string, Live>();
  readonly #volumes: PodVolumes;
  readonly #ending = new AbortController();
  #pod: Pod;
  #sandbox: PodSandbox | undefined;
  #sent = '';
  #wake: () => void = () => {};
  #woken = false;
  #touched = false;
  #gone = false;
  #off = false;
  #retryAt = 0;
  #retryDelay = 500;

  constructor(pod: Pod, node: WorkerSurroundings) {
    this.#pod = pod;
    this.uid = pod.metadata.uid;
    this.#node = node;
    this.#directory = join(node.directory, 'pods', pod.metadata.uid);
    this.#volumes = new PodVolumes(join(this.#directory, 'volumes'), {
      api: node.api,
      machine: node.machine,
      hostRoot: join(node.directory, 'root'),
      nodeAllocatable: node.allocatable,
      now: node.now,
    });
    for (const record of recordsFrom(pod)) this.#records.set(record.name, record);
    this.done = this.#run();
  }

  get pod(): Pod {
    return this.#pod;
  }

  get address(): string | undefined {
    return this.#sandbox?.address;
  }

  container(name: string): { running: RunningContainer; log: LogWriter } | undefined {
    return this.#live.get(name);
  }

  /** A connection to a port of the pod's own loopback, as the streams of a process. */
  connect(port: number): ChildProcess | undefined {
    if (this.#sandbox === undefined || !Number.isInteger(port)) return undefined;
    const { machine, tools } = this.#node;
    const [program, ...args] = [...machine.enter(), 'nsenter', '-t', String(this.#sandbox.pid), '-n'];
    return spawn(program, [...args, tools.busybox, 'nc', '127.0.0.1', String(port)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: tools.env,
    });
  }

  /** The log of a container: the run under way, or the last one; `previous` is the one before. */
  logFile(container: string, previous: boolean): { path: string; writer: LogWriter | undefined } | undefined {
    const record = this.#records.get(container);
    if (record === undefined) return undefined;
    const attempt = record.restarts - (previous ? 1 : 0);
    if (attempt < 0) return undefined;
    const path = logPath(this.#node.directory, this.#pod, container, attempt);
    return { path, writer: previous ? undefined : this.#live.get(container)?.log };
  }

  /** A newer version of the pod object. */
  update(pod: Pod): void {
    if (pod.metadata.resourceVersion === this.#pod.metadata.resourceVersion) return;
    this.#pod = pod;
    this.#touched = true;
    this.kick();
  }

  /** The pod object is gone: end everything at once. */
  forget(): void {
    this.#gone = true;
    this.#ending.abort();
    this.kick();
  }

  /** The node lost power: forget everything, there is nothing left to end. */
  powerCut(): void {
    this.#off = true;
    this.#ending.abort();
    for (const { probes } of this.#live.values()) probes.abort();
    this.kick();
  }

  kick(): void {
    this.#woken = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    while (!this.#off) {
      this.#woken = false;
      let next: number | undefined;
      try {
        if (this.#gone || isTerminating(this.#pod)) {
          await this.#terminate();
          return;
        }
        next = await this.#sync();
      } catch (error) {
        if (this.#off) return;
        this.#node.api.event(this.#pod, 'Warning', 'FailedSync', `error: ${(error as Error).message}`);
        next = this.#node.now() + 2000;
      }
      if (!this.#woken)
        await this.#sleep(
          next === undefined ? idleMs : Math.max(10, Math.min(next - this.#node.now(), idleMs)),
        );
    }
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Does the next things; answers when to look again. */
  async #sync(): Promise<number | undefined> {
    const node = this.#node;
    const phase = this.#pod.status?.phase;
    if (phase === 'Succeeded' || phase === 'Failed') {
      await this.#putAway();
      return undefined;
    }
    if (node.now() < this.#retryAt && this.#sandbox === undefined) return this.#retryAt;
    try {
      this.#sandbox ??= await this.#createSandbox();
      if (node.now() >= this.#retryAt) await this.#volumes.mount(this.#pod);
      else return this.#retryAt;
      this.#retryDelay = 500;
      this.#retryAt = 0;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      const what =
        error.code === 'FailedMount' ? `MountVolume.SetUp failed: ${error.message}` : error.message;
      node.api.event(this.#pod, 'Warning', error.code, what);
      this.#retryAt = node.now() + this.#retryDelay;
      this.#retryDelay = Math.min(this.#retryDelay * 2, 30_000);
      await this.#report();
      return this.#retryAt;
    }
    await this.#refreshVolumes();

    const plan = planPod(this.#pod, this.#records, node.now());
    for (const { container } of plan.backOff) this.#showBackOff(container);
    await Promise.all(plan.start.map((container) => this.#start(container)));
    await this.#report();
    if (['Succeeded', 'Failed'].includes(phaseOf(this.#pod, this.#records))) {
      await this.#stopSidecars();
      await this.#report();
      await this.#putAway();
      return undefined;
    }
    const waits = [...this.#records.values()].flatMap((record) => {
      if (record.state.is !== 'waiting' || record.notBefore === undefined) return [];
      // What went wrong is shown for a moment, then that it will be tried again.
      return record.state.reason === 'ErrImagePull' ? [node.now() + 1000] : [record.notBefore];
    });
    return Math.min(plan.checkAgainAt ?? Number.POSITIVE_INFINITY, ...waits, node.now() + idleMs);
  }

  async #createSandbox(): Promise<PodSandbox> {
    const node = this.#node;
    const pod = this.#pod;
    const hostNetwork = pod.spec.hostNetwork === true;
    const address = hostNetwork ? node.nodeAddress : node.takeAddress();
    const sandbox = await PodSandbox.create(
      node.machine,
      {
        hostname: hostnameOf(pod, node.nodeName),
        address,
        link: `p${pod.metadata.uid.replaceAll('-', '').slice(0, 12)}`,
        hostNetwork,
        shareProcesses: pod.spec.shareProcessNamespace === true,
      },
      node.tools,
    ).catch((error: unknown) => {
      if (!hostNetwork) node.giveAddress(address);
      throw error instanceof AgentError
        ? error
        : new AgentError('FailedCreatePodSandBox', (error as Error).message, { cause: error });
    });
    return sandbox;
  }

  async #refreshVolumes(): Promise<void> {
    // A touched pod is looked at afresh; otherwise what was read within the last minute will do.
    const maxAge = this.#touched ? 0 : slowRefreshMs;
    this.#touched = false;
    await this.#volumes.refresh(this.#pod, maxAge).catch((error: unknown) => {
      if (!(error instanceof AgentError)) throw error;
      this.#node.api.event(this.#pod, 'Warning', error.code, `MountVolume.SetUp failed: ${error.message}`);
    });
  }

  #set(name: string, change: Partial<ContainerRecord>): ContainerRecord {
    const next = { ...(this.#records.get(name) ?? newRecord(name)), ...change };
    this.#records.set(name, next);
    return next;
  }

  #showBackOff(container: Container): void {
    const record = this.#records.get(container.name);
    if (record === undefined) return;
    if (record.state.is === 'waiting' && record.state.reason === 'ErrImagePull') {
      const message = `Back-off pulling image "${container.image ?? ''}": ErrImagePull: ${record.state.message ?? ''}`;
      this.#set(container.name, { state: { is: 'waiting', reason: 'ImagePullBackOff', message } });
      this.#node.api.event(
        this.#pod,
        'Normal',
        'BackOff',
        `Back-off pulling image "${container.image ?? ''}"`,
      );
    }
    if (record.state.is !== 'terminated') return;
    const seconds = Math.round((record.notBefore ?? 0) - record.state.finishedAt) / 1000;
    const message = `back-off ${goDuration(seconds)} restarting failed container=${container.name} pod=${this.#pod.metadata.name}_${this.#pod.metadata.namespace ?? ''}(${this.uid})`;
    const { is: _is, ...last } = record.state;
    this.#set(container.name, {
      state: { is: 'waiting', reason: 'CrashLoopBackOff', message },
      last,
      started: false,
      ready: false,
    });
    this.#node.api.event(
      this.#pod,
      'Warning',
      'BackOff',
      `Back-off restarting failed container ${container.name} in pod ${this.#pod.metadata.name}_${this.#pod.metadata.namespace ?? ''}(${this.uid})`,
    );
  }

  async #start(container: Container): Promise<void> {
    const node = this.#node;
    const sandbox = this.#sandbox;
    if (sandbox === undefined) return;
    const before = this.#records.get(container.name) ?? newRecord(container.name);
    const ended = before.state.is === 'terminated' ? before.state : before.last;
    const attempt = ended === undefined ? before.restarts : before.restarts + (hasEnded(before) ? 1 : 0);
    const id = randomBytes(32).toString('hex');
    try {
      const started = await startContainer(
        {
          pod: this.#pod,
          container,
          sandbox,
          volumes: this.#volumes,
          id,
          attempt,
          podDirectory: this.#directory,
        },
        node,
      );
      const startedAt = node.now();
      const probes = new AbortController();
      this.#live.set(container.name, { running: started.running, log: started.log, probes });
      this.#set(container.name, {
        state: { is: 'running', startedAt, containerId: id },
        ...(ended === undefined ? {} : { last: stripped(ended) }),
        restarts: attempt,
        imageId: started.image.id,
        started: false,
        ready: false,
      });
      node.api.event(this.#pod, 'Normal', 'Started', `Started container ${container.name}`);
      void this.#follow(container, started, { id, startedAt, attempt, probes });
      await this.#afterStart(container, probes.signal);
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      this.#cannotStart(container, error, attempt, ended !== undefined);
    }
  }

  async #follow(
    container: Container,
    started: StartedContainer,
    run: { id: string; startedAt: number; attempt: number; probes: AbortController },
  ): Promise<void> {
    const exit = await started.running.exited;
    run.probes.abort();
    if (!this.#off)
      await this.#ended(container, run.id, run.startedAt, exit, started.terminationLog, run.attempt);
    await started.dispose().catch(() => {});
    this.kick();
  }

  /** postStart first; then the probes. */
  async #afterStart(container: Container, signal: AbortSignal): Promise<void> {
    const target = this.#target(container);
    const hook = container.lifecycle?.postStart;
    if (hook !== undefined) {
      const result = await runHook(hook, target, 120_000);
      if (!result.passed) {
        this.#node.api.event(
          this.#pod,
          'Warning',
          'FailedPostStartHook',
          `PostStartHook failed: ${result.message}`,
        );
        await this.#live.get(container.name)?.running.kill('KILL');
        return;
      }
    }
    void superviseContainer(container, {
      target,
      signal,
      suspended: this.#node.suspended,
      verdicts: {
        started: () => this.#judge(container.name, { started: true }),
        ready: (ready) => this.#judge(container.name, { ready }),
        failed: (kind, message) =>
          this.#node.api.event(this.#pod, 'Warning', 'Unhealthy', `${kind} probe failed: ${message}`),
        unhealthy: (kind) => {
          this.#node.api.event(
            this.#pod,
            'Normal',
            'Killing',
            `Container ${container.name} failed ${kind.toLowerCase()} probe, will be restarted`,
          );
          const probe = kind === 'Liveness' ? container.livenessProbe : container.startupProbe;
          void this.#stop(
            container,
            (probe?.terminationGracePeriodSeconds ?? this.#pod.spec.terminationGracePeriodSeconds ?? 30) *
              1000,
          );
        },
      },
    });
  }

  #judge(name: string, change: Partial<ContainerRecord>): void {
    if (this.#records.get(name)?.state.is !== 'running') return;
    this.#set(name, change);
    this.kick();
  }

  #target(container: Container): ProbeTarget {
    return {
      pod: this.#pod,
      container,
      address: this.#sandbox?.address ?? '',
      exec: (command) => {
        const live = this.#live.get(container.name);
        if (live === undefined) throw new AgentError('RunContainerError', 'the container does not run');
        return live.running.exec({ command, tty: false });
      },
    };
  }

  /** What `kubectl get pods` shows for a container that could not be started, and when it is tried again. */
  #cannotStart(container: Container, error: AgentError, attempt: number, again: boolean): void {
    const node = this.#node;
    const pull = error.code === 'ErrImagePull';
    const before = this.#records.get(container.name);
    const wait = before?.backOff ?? (pull ? 10_000 : 2000);
    const reason = error.code;
    const { message } = error;
    const failure = error.code === 'RunContainerError';
    this.#set(container.name, {
      ...(failure
        ? {
            state: {
              is: 'terminated',
              exitCode: 128,
              reason: 'StartError',
              message: error.message,
              startedAt: 0,
              finishedAt: node.now(),
              containerId: '',
            },
            restarts: again ? attempt : (before?.restarts ?? 0),
          }
        : { state: { is: 'waiting', reason, message } }),
      notBefore: node.now() + (failure && before?.backOff === undefined ? 0 : wait),
      backOff: failure && before?.backOff === undefined ? 10_000 : Math.min(wait * 2, 300_000),
    });
    node.api.event(
      this.#pod,
      'Warning',
      'Failed',
      `Error: ${reason}${reason === message ? '' : `: ${message}`}`,
    );
  }

  async #ended(
    container: Container,
    id: string,
    startedAt: number,
    exit: { code: number; oomKilled: boolean },
    terminationLog: string,
    attempt: number,
  ): Promise<void> {
    const node = this.#node;
    const finishedAt = node.now();
    const text = await readFile(terminationLog, 'utf8').catch(() => '');
    const fallback =
      text === '' && exit.code !== 0 && container.terminationMessagePolicy === 'FallbackToLogsOnError'
        ? await logTail(logPath(node.directory, this.#pod, container.name, attempt), 80, 2048)
        : '';
    const record = this.#records.get(container.name);
    const { wait, next } = backOffAfter(record?.backOff, finishedAt - startedAt);
    this.#live.delete(container.name);
    this.#set(container.name, {
      state: {
        is: 'terminated',
        exitCode: exit.code,
        reason: exit.oomKilled ? 'OOMKilled' : exit.code === 0 ? 'Completed' : 'Error',
        message: (text || fallback).slice(0, 4096),
        startedAt,
        finishedAt,
        containerId: id,
      },
      started: false,
      ready: false,
      notBefore: finishedAt + wait,
      backOff: next,
    });
  }

  async #report(): Promise<void> {
    if (this.#off || this.#gone) return;
    const status = podStatus({
      pod: this.#pod,
      records: this.#orderedRecords(),
      hostIP: this.#node.nodeAddress,
      podIP: this.#sandbox?.address,
      sandboxReady: this.#sandbox !== undefined,
      now: this.#node.now(),
    });
    const text = canonicalJson(status);
    if (text === this.#sent) return;
    const answer = await this.#node.api.patchStatus(this.#pod, status);
    this.#sent = text;
    if (answer.metadata.uid === this.uid) this.#pod = answer;
  }

  #orderedRecords(): ReadonlyMap<string, ContainerRecord> {
    for (const container of [...(this.#pod.spec.initContainers ?? []), ...this.#pod.spec.containers])
      if (!this.#records.has(container.name)) {
        const waiting =
          (this.#pod.spec.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating';
        this.#records.set(container.name, {
          ...newRecord(container.name),
          state: { is: 'waiting', reason: waiting },
        });
      }
    return this.#records;
  }

  /** preStop, a polite signal, the grace period, then the other kind of signal. */
  async #stop(container: Container, graceMs: number): Promise<void> {
    const live = this.#live.get(container.name);
    if (live === undefined) return;
    live.probes.abort();
    const began = performance.now();
    const hook = container.lifecycle?.preStop;
    if (hook !== undefined && graceMs > 0) {
      const result = await Promise.race([
        runHook(hook, this.#target(container), graceMs),
        live.running.exited.then(() => ({ passed: true, message: '' })),
      ]);
      if (!result.passed)
        this.#node.api.event(
          this.#pod,
          'Warning',
          'FailedPreStopHook',
          `PreStopHook failed: ${result.message}`,
        );
    }
    if (graceMs > 0) {
      const signal = (container.lifecycle?.stopSignal ?? 'SIGTERM').replace(/^SIG/, '');
      await live.running.kill(signal);
      const left = Math.max(2000, graceMs - (performance.now() - began));
      await within(live.running.exited, left, this.#ending.signal);
    }
    if (this.#live.get(container.name) === live) {
      await live.running.kill('KILL');
      await within(live.running.exited, 30_000);
    }
    await untilTrue(() => this.#live.get(container.name) !== live || this.#off, 5000);
  }

  async #stopSidecars(): Promise<void> {
    const grace = (this.#pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
    for (const container of (this.#pod.spec.initContainers ?? []).filter(isSidecar).toReversed())
      await this.#stop(container, grace);
  }

  async #terminate(): Promise<void> {
    const pod = this.#pod;
    const grace = this.#gone
      ? 0
      : (pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
    const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
    const others = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].filter(
      (entry) => !sidecars.includes(entry),
    );
    for (const container of others)
      if (this.#live.has(container.name))
        this.#node.api.event(pod, 'Normal', 'Killing', `Stopping container ${container.name}`);
    await Promise.all(others.map((container) => this.#stop(container, grace)));
    for (const container of sidecars.toReversed()) await this.#stop(container, grace);
    if (this.#off) return;
    // The last word about the containers; the deletion follows whether or not it arrives.
    await this.#report().catch(() => {});
    await this.#putAway();
    await rm(this.#directory, { recursive: true, force: true });
    if (this.#gone) return;
    for (let wait = 200; !this.#off && !this.#gone; wait = Math.min(wait * 2, 10_000)) {
      try {
        await this.#node.api.confirmDeletion(this.#pod);
        return;
      } catch {
        await delay(wait);
      }
    }
  }

  /** The pod's place and volumes go; the object may stay. */
  async #putAway(): Promise<void> {
    const sandbox = this.#sandbox;
    this.#sandbox = undefined;
    for (const [name, live] of this.#live) {
      live.probes.abort();
      await live.running.kill('KILL');
      await untilTrue(() => !this.#live.has(name) || this.#off, 10_000);
    }
    if (sandbox === undefined) return;
    await sandbox.remove();
    if (this.#pod.spec.hostNetwork !== true) this.#node.giveAddress(sandbox.address);
    await this.#volumes.unmount();
  }
}

const hasEnded = (record: ContainerRecord): boolean =>
  record.state.is === 'terminated' ||
  (record.state.is === 'waiting' && record.state.reason === 'CrashLoopBackOff');

function stripped(state: Termination & { readonly is?: string }): Termination {
  const { is: _is, ...rest } = state;
  return rest;
}

async function within(promise: Promise<unknown>, milliseconds: number, signal?: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const wait = delay(milliseconds, undefined, {
    signal: signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]),
  }).catch(() => {});
  await Promise.race([promise, wait]);
  stop.abort();
}

async function untilTrue(check: () => boolean, deadlineMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!check() && performance.now() < deadline) await delay(5);
}

/** 10 → "10s", 80 → "1m20s", 300 → "5m0s". */
function goDuration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m${whole % 60}s`;
}
