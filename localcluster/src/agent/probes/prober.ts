/** Runs the probes of one container for as long as it runs, and tells of every change of verdict. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Container, Probe } from '../../objects/objects.ts';
import { afterResult, initialProbeState } from './probe-state.ts';
import { type ProbeTarget, runProbe } from './run-probe.ts';

export interface Verdicts {
  started(): void;
  ready(isReady: boolean): void;
  /** Liveness or startup says that the container must be restarted. */
  unhealthy(kind: 'Liveness' | 'Startup', message: string): void;
  failed(kind: 'Liveness' | 'Readiness' | 'Startup', message: string): void;
}

export interface ProberSurroundings {
  readonly target: ProbeTarget;
  readonly verdicts: Verdicts;
  readonly signal: AbortSignal;
  /** The node is off the net: what a probe would say now means nothing. */
  readonly suspended: () => boolean;
}

/** Startup comes first; only when it has passed do the other two begin. */
export async function superviseContainer(container: Container, around: ProberSurroundings): Promise<void> {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  try {
    if (startupProbe !== undefined && !(await waitForStart(startupProbe, around))) return;
    around.verdicts.started();
    if (readinessProbe === undefined) around.verdicts.ready(true);
    await Promise.all([
      readinessProbe === undefined ? undefined : watchReadiness(readinessProbe, around),
      livenessProbe === undefined ? undefined : watchLiveness(livenessProbe, around),
    ]);
  } catch (error) {
    if (!around.signal.aborted) throw error;
  }
}

const seconds = (value: number | undefined, fallback: number) => (value ?? fallback) * 1000;
const thresholds = (probe: Probe) => ({
  success: probe.successThreshold ?? 1,
  failure: probe.failureThreshold ?? 3,
});

/** Results of one probe, one per period, for ever. */
async function* results(probe: Probe, { target, signal, suspended }: ProberSurroundings) {
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

async function waitForStart(probe: Probe, around: ProberSurroundings): Promise<boolean> {
  let failures = 0;
  for await (const result of results(probe, around)) {
    if (result.passed) return true;
    around.verdicts.failed('Startup', result.message);
    failures += 1;
    if (failures >= thresholds(probe).failure) {
      around.verdicts.unhealthy('Startup', result.message);
      return false;
    }
  }
  return false;
}

async function watchReadiness(probe: Probe, around: ProberSurroundings): Promise<void> {
  let state = initialProbeState(false);
  for await (const result of results(probe, around)) {
    if (!result.passed) around.verdicts.failed('Readiness', result.message);
    const next = afterResult(state, result.passed, thresholds(probe));
    if (next.healthy !== state.healthy) around.verdicts.ready(next.healthy);
    state = next;
  }
}

async function watchLiveness(probe: Probe, around: ProberSurroundings): Promise<void> {
  let state = initialProbeState(true);
  for await (const result of results(probe, around)) {
    if (!result.passed) around.verdicts.failed('Liveness', result.message);
    state = afterResult(state, result.passed, thresholds(probe));
    if (state.healthy) continue;
    around.verdicts.unhealthy('Liveness', result.message);
    return;
  }
}
