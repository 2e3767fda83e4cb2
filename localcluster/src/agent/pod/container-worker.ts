/**
 * Takes care of one container of a pod: starts it, has it probed, ends it, and keeps the record of what became of it.
 * Whether and when it starts (again) is for the pod to decide; see `plan.ts`.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Container, Pod } from '../../objects/objects.ts';
import { AgentError } from '../errors.ts';
import { superviseContainer } from '../probes/prober.ts';
import { type ProbeTarget, runHook } from '../probes/run-probe.ts';
import type { RunningContainer } from '../runtime/container.ts';
import { type LogWriter, logTail } from '../runtime/log-file.ts';
import type { PodSandbox } from '../runtime/sandbox.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import { within } from './bounded-wait.ts';
import { nextAttempt, whenBackingOff, whenEnded, whenNotStarted, whenStarted } from './container-changes.ts';
import type { ContainerRecord } from './container-record.ts';
import { logPath, type NodeContext, type StartedContainer, startContainer } from './container-starter.ts';

/** What a container sees of its pod. */
export interface PodContext {
  readonly node: NodeContext;
  readonly pod: () => Pod;
  readonly directory: string;
  readonly volumes: PodVolumes;
  /** The node is off the net: what a probe would say now means nothing. */
  readonly suspended: () => boolean;
  /** The pod should look at its containers again. */
  readonly changed: () => void;
  /** Aborted when the grace period of the pod is cut short. */
  readonly skipGracePeriod: AbortSignal;
}

interface Run {
  readonly id: string;
  readonly startedAt: number;
  readonly attempt: number;
  readonly address: string;
  readonly started: StartedContainer;
  /** Aborted when the container is ending: it is not probed any more. */
  readonly probes: AbortController;
  exited: boolean;
  /** Resolves when the end is in the record and its files are gone. */
  settled: Promise<void>;
}

/** How long a postStart hook may take. */
const postStartMs = 120_000;
/** However short the grace period is, a signal needs a moment to work. */
const leastGraceMs = 2000;
const killMs = 30_000;

export class ContainerWorker {
  readonly #pod: PodContext;
  #container: Container;
  #record: ContainerRecord;
  #run: Run | undefined;
  #off = false;

  constructor(container: Container, record: ContainerRecord, pod: PodContext) {
    this.#container = container;
    this.#record = record;
    this.#pod = pod;
  }

  get record(): ContainerRecord {
    return this.#record;
  }

  /** The run under way. */
  get live(): { readonly running: RunningContainer; readonly log: LogWriter } | undefined {
    return this.#run?.started;
  }

  /** The log of the run under way or of the last one; `previous` is the one before. */
  logFile(previous: boolean): { path: string; writer: LogWriter | undefined } | undefined {
    const attempt = this.#record.restarts - (previous ? 1 : 0);
    if (attempt < 0) return undefined;
    return { path: this.#logPath(attempt), writer: previous ? undefined : this.#run?.started.log };
  }

  showBackOff(): void {
    const { name, image = '' } = this.#container;
    const { metadata } = this.#pod.pod();
    const who = `${metadata.name}_${metadata.namespace ?? ''}(${metadata.uid})`;
    const before = this.#record;
    this.#record = whenBackingOff(before, { image, who });
    if (this.#record === before || this.#record.state.is !== 'waiting') return;
    if (this.#record.state.reason === 'ImagePullBackOff')
      this.#event('Normal', 'BackOff', `Back-off pulling image "${image}"`);
    else this.#event('Warning', 'BackOff', `Back-off restarting failed container ${name} in pod ${who}`);
  }

  /** Resolves when it runs and its postStart hook has been through, or when the record says why it does not. */
  async start(container: Container, sandbox: PodSandbox): Promise<void> {
    const { node, volumes, directory } = this.#pod;
    this.#container = container;
    const attempt = nextAttempt(this.#record);
    const id = randomBytes(32).toString('hex');
    try {
      const started = await startContainer(
        { pod: this.#pod.pod(), container, sandbox, volumes, id, attempt, podDirectory: directory },
        node,
      );
      const startedAt = node.now();
      this.#record = whenStarted(this.#record, { id, startedAt, imageId: started.image.id });
      const run: Run = {
        id,
        startedAt,
        attempt,
        address: sandbox.address,
        started,
        probes: new AbortController(),
        exited: false,
        settled: Promise.resolve(),
      };
      this.#run = run;
      run.settled = this.#follow(run);
      this.#event('Normal', 'Started', `Started container ${container.name}`);
      await this.#afterStart(run);
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      this.#record = whenNotStarted(this.#record, error, node.now());
      const detail = error.code === error.message ? '' : `: ${error.message}`;
      this.#event('Warning', 'Failed', `Error: ${error.code}${detail}`);
    }
  }

  /** preStop, a polite signal, the grace period, then the other kind of signal. */
  async stop(graceMs: number): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.probes.abort();
    const { running } = run.started;
    const began = performance.now();
    const { preStop, stopSignal = 'SIGTERM' } = this.#container.lifecycle ?? {};
    if (preStop !== undefined && graceMs > 0) {
      const result = await Promise.race([
        runHook(preStop, this.#target(run), graceMs),
        running.exited.then(() => ({ passed: true, message: '' })),
      ]);
      if (!result.passed)
        this.#event('Warning', 'FailedPreStopHook', `PreStopHook failed: ${result.message}`);
    }
    if (graceMs > 0 && !run.exited) {
      await running.kill(stopSignal.replace(/^SIG/, ''));
      const left = Math.max(leastGraceMs, graceMs - (performance.now() - began));
      await within(running.exited, left, this.#pod.skipGracePeriod);
    }
    await this.kill();
  }

  /** At once; resolves when nothing of the run is left but its record. */
  async kill(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.probes.abort();
    if (!run.exited) await run.started.running.kill('KILL');
    await within(run.settled, killMs);
  }

  /** Its node was powered off: there is nothing to stop or to report. */
  powerCut(): void {
    this.#off = true;
    this.#run?.probes.abort();
  }

  async #follow(run: Run): Promise<void> {
    const { running, terminationLog } = run.started;
    const exit = await running.exited;
    run.exited = true;
    run.probes.abort();
    const finishedAt = this.#pod.node.now();
    if (!this.#off) {
      const message = await this.#terminationMessage(exit.code, terminationLog, run.attempt);
      this.#record = whenEnded(this.#record, { ...run, finishedAt }, { ...exit, message });
    }
    this.#run = undefined;
    await run.started.dispose().catch(() => {});
    this.#pod.changed();
  }

  async #terminationMessage(code: number, terminationLog: string, attempt: number): Promise<string> {
    const text = await readFile(terminationLog, 'utf8').catch(() => '');
    if (text !== '' || code === 0) return text;
    if (this.#container.terminationMessagePolicy !== 'FallbackToLogsOnError') return '';
    return logTail(this.#logPath(attempt), 80, 2048);
  }

  /** postStart first; then the probes. */
  async #afterStart(run: Run): Promise<void> {
    const container = this.#container;
    const target = this.#target(run);
    const hook = container.lifecycle?.postStart;
    if (hook !== undefined) {
      const result = await runHook(hook, target, postStartMs);
      if (!result.passed) {
        this.#event('Warning', 'FailedPostStartHook', `PostStartHook failed: ${result.message}`);
        await run.started.running.kill('KILL');
        return;
      }
    }
    void superviseContainer(container, {
      target,
      signal: run.probes.signal,
      suspended: this.#pod.suspended,
      callbacks: {
        started: () => this.#updateRecord(run, { started: true }),
        ready: (ready) => this.#updateRecord(run, { ready }),
        failed: (kind, message) => this.#event('Warning', 'Unhealthy', `${kind} probe failed: ${message}`),
        unhealthy: (kind) => this.#endUnhealthy(kind),
      },
    });
  }

  #endUnhealthy(kind: 'Liveness' | 'Startup'): void {
    const { name, livenessProbe, startupProbe } = this.#container;
    const probe = kind === 'Liveness' ? livenessProbe : startupProbe;
    const { terminationGracePeriodSeconds: podGrace = 30 } = this.#pod.pod().spec;
    const text = `Container ${name} failed ${kind.toLowerCase()} probe, will be restarted`;
    this.#event('Normal', 'Killing', text);
    void this.stop((probe?.terminationGracePeriodSeconds ?? podGrace) * 1000);
  }

  #updateRecord(run: Run, change: Partial<ContainerRecord>): void {
    if (this.#run !== run || this.#record.state.is !== 'running') return;
    this.#record = { ...this.#record, ...change };
    this.#pod.changed();
  }

  #target(run: Run): ProbeTarget {
    return {
      pod: this.#pod.pod(),
      container: this.#container,
      address: run.address,
      exec: (command) => {
        if (this.#run !== run) throw new AgentError('RunContainerError', 'the container does not run');
        return run.started.running.exec({ command, tty: false });
      },
    };
  }

  #logPath(attempt: number): string {
    return logPath(this.#pod.node.directory, this.#pod.pod(), this.#container.name, attempt);
  }

  #event(type: 'Normal' | 'Warning', reason: string, note: string): void {
    this.#pod.node.api.event(this.#pod.pod(), type, reason, note);
  }
}
