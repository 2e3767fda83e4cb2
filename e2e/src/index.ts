/** A stage for tests of the whole. */

export { type DemoResult, demoNamespace, removeDemo, runDemo } from './helm/run-demo.ts';
export { OperatorProcess } from './operator-process.ts';
export { operatorUser } from './operator-rights.ts';
export { namespace, SlurmStage, type StageOptions } from './slurm-stage.ts';
