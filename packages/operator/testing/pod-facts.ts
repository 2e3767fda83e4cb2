/** A pod that is ready and well, for tests about what its state means. */
import type { PodFacts } from '../src/framework/status/pods.ts';

export const podFacts = (over: Partial<PodFacts> = {}): PodFacts => ({
  name: 'pod-0',
  uid: 'uid-0',
  ready: true,
  running: true,
  lostWith: undefined,
  restarts: 0,
  annotations: {},
  labels: {},
  revision: undefined,
  waiting: undefined,
  waitingMessage: undefined,
  lastLogLine: undefined,
  unschedulable: undefined,
  boundTo: [],
  ...over,
});
