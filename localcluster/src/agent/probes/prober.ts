/** Runs the probes of one container while it runs, and reports every change. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Container, Probe } from '../../objects/objects.ts';
import { type ProbeTarget, runProbe } from './run-probe.ts';

/** Counts probe results until a threshold changes the state. Pure: the caller runs the probes and keeps the time. */
export interface Thresholds {
  readonly success: number;
  readonly failure: number;
}

export interface ProbeState {
  readonly healthy: boolean;
  readonly successes: number;
  readonly failures: number;
}

/** Liveness begins well, readiness and startup begin badly. */
export const initialProbeState = (healthy: boolean): ProbeState => ({ healthy, successes: 0, failures: 0 });

export function afterResult(state: ProbeState, passed: boolean, thresholds: Thresholds): ProbeState {
  const successes = passed ? state.successes + 1 : 0;
  const failures = passed ? 0 : state.failures + 1;
  const healthy = passed
    ? state.healthy || successes >= thresholds.success
    : state.healthy && failures < thresholds.failure;
  return { healthy, successes, failures };
}

export interface ProbeCallbacks {
  started(): void;
  ready(isReady: boolean): void;
  /** Liveness or startup says that the container must be restarted. */
  unhealthy(kind: 'Liveness' | 'Startup', message: string): void;
  failed(kind: 'Liveness' | 'Readiness' | 'Startup', message: string): void;
}

export interface ProberOptions {
  readonly target: ProbeTarget;
  readonly callbacks: ProbeCallbacks;
  readonly signal: AbortSignal;
  /** The node is off the net: what a probe would say now means nothing. */
  readonly suspended: () => boolean;
}

/** Startup comes first; only when it has passed do the other two begin. */
export async function superviseContainer(container: Container, options: ProberOptions): Promise<void> {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  try {
    if (startupProbe !== undefined && !(await waitForStart(startupProbe, options))) return;
    options.callbacks.started();
    if (readinessProbe === undefined) options.callbacks.ready(true);
    await Promise.all([
      readinessProbe === undefined ? undefined : watchReadiness(readinessProbe, options),
      livenessProbe === undefined ? undefined : watchLiveness(livenessProbe, options),
    ]);
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
}

const seconds = (value: number | undefined, fallback: number) => (value ?? fallback) * 1000;
const thresholds = (probe: Probe) => ({
  success: probe.successThreshold ?? 1,
  failure: probe.failureThreshold ?? 3,
});

/** Results of one probe, one per period, until the signal is aborted. */
async function* results(probe: Probe, { target, signal, suspended }: ProberOptions) {
  await delay(seconds(probe.initialDelaySeconds, 0), undefined, { signal });
  for (;;) {
    const begun = performance.now();
    if (!suspended()) {
      const result = await runProbe(probe, target, seconds(probe.timeoutSeconds, 1));
      signal.throwIfAborted();
      yield result;
    }
    const left = seconds(probe.periodSeconds, 10) - (performance.now() - begun);
    await delay(Math.max(10, left), undefined, { signal });
  }
}

async function waitForStart(probe: Probe, options: ProberOptions): Promise<boolean> {
  let failures = 0;
  for await (const result of results(probe, options)) {
    if (result.passed) return true;
    options.callbacks.failed('Startup', result.message);
    failures += 1;
    if (failures >= thresholds(probe).failure) {
      options.callbacks.unhealthy('Startup', result.message);
      return false;
    }
  }
  return false;
}

async function watchReadiness(probe: Probe, options: ProberOptions): Promise<void> {
  let state = initialProbeState(false);
  for await (const result of results(probe, options)) {
    if (!result.passed) options.callbacks.failed('Readiness', result.message);
    const next = afterResult(state, result.passed, thresholds(probe));
    if (next.healthy !== state.healthy) options.callbacks.ready(next.healthy);
    state = next;
  }
}

async function watchLiveness(probe: Probe, options: ProberOptions): Promise<void> {
  let state = initialProbeState(true);
  for await (const result of results(probe, options)) {
    if (!result.passed) options.callbacks.failed('Liveness', result.message);
    state = afterResult(state, result.passed, thresholds(probe));
    if (state.healthy) continue;
    options.callbacks.unhealthy('Liveness', result.message);
    return;
  }
}
