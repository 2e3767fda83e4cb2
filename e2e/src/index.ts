/** A stage for tests of the whole. */

export { type DemoResult, demoNamespace, removeDemo, runDemo } from './helm/run-demo.ts';
export { OperatorProcess } from './operator-process.ts';
export { namespace, operatorUser, SlurmStage, type StageOptions } from './slurm-stage.ts';
