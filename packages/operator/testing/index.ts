/** What tests of other packages use of the operator's own stage. */
export { crashAtEveryWrite } from './crash-at-every-write.ts';
export { type CrashScenario, crashScenarios } from './crash-scenarios.ts';
export { NodeSetStage } from './nodeset-stage.ts';
export { faultNamed, plant, plantedFaults } from './planted-faults.ts';
export { RealSlurm } from './real-slurm.ts';
export { steady } from './steady.ts';
