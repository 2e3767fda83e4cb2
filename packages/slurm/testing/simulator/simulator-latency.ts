/** How long slurmrestd takes, measured on 26.05 with 5,000 nodes and 5,000 jobs on two cores. Milliseconds. */
export interface Latency {
  /** Any small answer. */
  readonly base: number;
  readonly perListedNode: number;
  readonly perListedJob: number;
  readonly perJobState: number;
  /** How long a call waits for a slurmctld that is not there: lists and writes, and the GET of a job. */
  readonly controllerDown: number;
  readonly controllerDownJob: number;
}

export const measuredLatency: Latency = {
  base: 3,
  perListedNode: 0.14,
  perListedJob: 0.52,
  perJobState: 0.008,
  controllerDown: 9500,
  controllerDownJob: 19_000,
};

/** For tests that want answers, not waits. */
export const noLatency: Latency = {
  base: 0,
  perListedNode: 0,
  perListedJob: 0,
  perJobState: 0,
  controllerDown: 30,
  controllerDownJob: 60,
};
