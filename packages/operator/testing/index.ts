/** What tests of other packages use of the operator's own stage. */

export { workerSshConfig } from '../src/kinds/nodeset/objects/worker-ssh.ts';
export { workerTemplate } from '../src/kinds/nodeset/objects/worker-template.ts';
export { buildControllerConfig } from '../src/slurm-config/render/config-map.ts';
export { buildSlurmConf } from '../src/slurm-config/render/slurm-conf.ts';
export { crashAtEveryWrite } from './crash-at-every-write.ts';
export { type CrashScenario, crashScenarios } from './crash-scenarios.ts';
export { NodeSetStage } from './nodeset-stage.ts';
export { aController, aNodeSet } from './objects.ts';
export { faultNamed, plant, soakFaults } from './planted-faults.ts';
export { RealSlurm } from './real-slurm.ts';
export { steady } from './steady.ts';
