/** What tests and the demo put onto a cluster. */
export { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts';
export { runSlurmPods, type SlurmRun } from './run-slurm-pods.ts';
