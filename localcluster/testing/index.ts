/** What tests and the demo put onto a cluster. */
export { runSlurmPods, type SlurmRun } from './run-slurm-pods.ts';
