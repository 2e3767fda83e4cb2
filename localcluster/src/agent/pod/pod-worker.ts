/**
 * Takes care of one pod on one node, from its binding to the last trace of it: its place, its volumes, its status. Everything
 * happens in one loop: look at the pod and at what its containers do, do the next thing, report, wait to be woken. So no two
 * things ever happen at once. The life of each container is `container-worker.ts`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Container, Pod } from '../../objects/objects.ts';
import { isTerminating } from '../../objects/pods.ts';
import { canonicalJson } from '../../objects/template-hash.ts';
import { AgentError } from '../errors.ts';
import type { RunningContainer } from '../runtime/container.ts';
import type { LogWriter } from '../runtime/log-file.ts';
import { PodSandbox } from '../runtime/sandbox.ts';
import { PodVolumes, slowRefreshMs } from '../volumes/pod-volumes.ts';
import type { ContainerRecord } from './container-record.ts';
import type { NodeContext } from './container-starter.ts';
import { ContainerWorker } from './container-worker.ts';
import { isSidecar, planPod } from './plan.ts';
import { hostnameOf } from './pod-files.ts';
import { recordsFrom } from './recover.ts';
import { phaseOf, podStatus } from './status.ts';

export interface WorkerContext extends NodeContext {
  readonly takeAddress: () => string;
  readonly giveAddress: (address: string) => void;
  readonly suspended: () => boolean;
}

/** Between two looks when nothing wakes us: also the pace at which ConfigMaps and Secrets are looked at again. */
const idleMs = 20_000;
const firstRetryMs = 500;
const longestRetryMs = 30_000;

export class PodWorker {
  readonly uid: string;
  readonly done: Promise<void>;
  readonly #node: WorkerContext;
  readonly #directory: string;
  readonly #containers: ReadonlyMap<string, ContainerWorker>;
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
  #retryDelay = firstRetryMs;

  constructor(pod: Pod, node: WorkerContext) {
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
    const podContext = {
      node,
      pod: () => this.#pod,
      directory: this.#directory,
      volumes: this.#volumes,
      suspended: node.suspended,
      changed: () => this.kick(),
      skipGracePeriod: this.#ending.signal,
    };
    const specs = new Map(allContainers(pod).map((container) => [container.name, container]));
    this.#containers = new Map(
      recordsFrom(pod).flatMap((record) => {
        const container = specs.get(record.name);
        return container === undefined
          ? []
          : [[record.name, new ContainerWorker(container, record, podContext)] as const];
      }),
    );
    this.done = this.#run();
  }

  get pod(): Pod {
    return this.#pod;
  }

  get address(): string | undefined {
    return this.#sandbox?.address;
  }

  container(name: string): { readonly running: RunningContainer; readonly log: LogWriter } | undefined {
    return this.#containers.get(name)?.live;
  }

  /** Whether a container's input ends with the first client that was attached to it. */
  stdinOnce(name: string): boolean {
    return allContainers(this.#pod).find((container) => container.name === name)?.stdinOnce === true;
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
    return this.#containers.get(container)?.logFile(previous);
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
    for (const container of this.#containers.values()) container.powerCut();
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
      this.#retryDelay = firstRetryMs;
      this.#retryAt = 0;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      const what =
        error.code === 'FailedMount' ? `MountVolume.SetUp failed: ${error.message}` : error.message;
      node.api.event(this.#pod, 'Warning', error.code, what);
      this.#retryAt = node.now() + this.#retryDelay;
      this.#retryDelay = Math.min(this.#retryDelay * 2, longestRetryMs);
      await this.#report();
      return this.#retryAt;
    }
    await this.#refreshVolumes();

    const plan = planPod(this.#pod, this.#records(), node.now());
    for (const { container } of plan.backOff) this.#containers.get(container.name)?.showBackOff();
    const sandbox = this.#sandbox;
    await Promise.all(
      plan.start.map(async (container) => this.#containers.get(container.name)?.start(container, sandbox)),
    );
    await this.#report();
    if (['Succeeded', 'Failed'].includes(phaseOf(this.#pod, this.#records()))) {
      await this.#stopSidecars(this.#podGraceMs());
      await this.#report();
      await this.#putAway();
      return undefined;
    }
    const waits = [...this.#records().values()].flatMap((record) => {
      if (record.state.is !== 'waiting' || record.notBefore === undefined) return [];
      // What went wrong is shown for a moment, then that it will be tried again.
      return record.state.reason === 'ErrImagePull' ? [node.now() + 1000] : [record.notBefore];
    });
    return Math.min(plan.checkAgainAt ?? Number.POSITIVE_INFINITY, ...waits, node.now() + idleMs);
  }

  #records(): ReadonlyMap<string, ContainerRecord> {
    return new Map([...this.#containers].map(([name, worker]) => [name, worker.record]));
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

  async #report(): Promise<void> {
    if (this.#off || this.#gone) return;
    const status = podStatus({
      pod: this.#pod,
      records: this.#records(),
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

  #podGraceMs(): number {
    return (this.#pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  }

  /** The last that was started ends first. */
  async #stopSidecars(graceMs: number): Promise<void> {
    for (const { name } of (this.#pod.spec.initContainers ?? []).filter(isSidecar).toReversed())
      await this.#containers.get(name)?.stop(graceMs);
  }

  async #terminate(): Promise<void> {
    const pod = this.#pod;
    const { deletionGracePeriodSeconds: asked } = pod.metadata;
    const grace = this.#gone ? 0 : asked === undefined ? this.#podGraceMs() : asked * 1000;
    const others = allContainers(pod).filter((container) => !isSidecar(container));
    for (const { name } of others)
      if (this.container(name) !== undefined)
        this.#node.api.event(pod, 'Normal', 'Killing', `Stopping container ${name}`);
    await Promise.all(others.map(async ({ name }) => this.#containers.get(name)?.stop(grace)));
    await this.#stopSidecars(grace);
    if (this.#off) return;
    // The last word about the containers; the deletion follows whether or not it arrives.
    await this.#report().catch(() => {});
    await this.#putAway();
    await rm(this.#directory, { recursive: true, force: true });
    await this.#confirmDeletion();
  }

  /** Tries until the API server has heard that the pod is gone, or knows already. */
  async #confirmDeletion(): Promise<void> {
    for (let wait = 200; !this.#off && !this.#gone; wait = Math.min(wait * 2, 10_000)) {
      try {
        await this.#node.api.confirmDeletion(this.#pod);
        return;
      } catch {
        await delay(wait, undefined, { signal: this.#ending.signal }).catch(() => {});
      }
    }
  }

  /** The pod's place and volumes go; the object may stay. */
  async #putAway(): Promise<void> {
    const sandbox = this.#sandbox;
    this.#sandbox = undefined;
    for (const container of this.#containers.values()) await container.kill();
    if (sandbox === undefined) return;
    await sandbox.remove();
    if (this.#pod.spec.hostNetwork !== true) this.#node.giveAddress(sandbox.address);
    await this.#volumes.unmount();
  }
}

function allContainers(pod: Pod): Container[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
}
