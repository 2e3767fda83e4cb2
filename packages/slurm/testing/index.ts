/** Test doubles for programs that talk to Slurm: a clock, a simulator of slurmrestd, and a real Slurm in namespaces. */
export { ManualClock } from './manual-clock.ts';
export { MiniSlurm, type MiniSlurmOptions, startMiniSlurm } from './mini-slurm.ts';
export { Random, randomAssociation, randomQos } from './random.ts';
export { type ClusterOptions, SimulatedCluster } from './simulator/simulated-cluster.ts';
export { readConfiguration } from './simulator/simulated-configuration.ts';
export type { SimulatedJob, SimulatedNode } from './simulator/simulated-objects.ts';
export {
  type Faults,
  type RecordedRequest,
  Simulator,
  type SimulatorOptions,
  startSimulator,
} from './simulator/simulator.ts';
export type { Latency } from './simulator/simulator-latency.ts';
export { slurmJob } from './slurm-job.ts';
export { type SlurmRelease, slurmRootfs } from './slurm-rootfs.ts';
export { clockDirectory, type SteppedClock, steppedClock } from './stepped-clock.ts';
