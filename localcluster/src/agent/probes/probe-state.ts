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
