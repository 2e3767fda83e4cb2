/** What tests of other packages use of the operator's own stage. */
export { buildControllerConfig } from '../src/builders/controller/config-map.ts';
export { buildSlurmConf } from '../src/builders/controller/slurm-conf.ts';
export { workerSshConfig } from '../src/nodeset/worker/worker-ssh.ts';
export { workerTemplate } from '../src/nodeset/worker/worker-template.ts';
export { crashAtEveryWrite } from './crash-at-every-write.ts';
export { type CrashScenario, crashScenarios } from './crash-scenarios.ts';
export { NodeSetStage } from './nodeset-stage.ts';
export { aController, aNodeSet } from './objects.ts';
export { faultNamed, plant, plantedFaults } from './planted-faults.ts';
export { RealSlurm } from './real-slurm.ts';
export { steady } from './steady.ts';
