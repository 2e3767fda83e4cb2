/** A stage for tests of the whole. */

export * as demo from './demo/index.ts';
export { OperatorProcess } from './operator-process.ts';
export { operatorUser } from './operator-rights.ts';
export { namespace, SlurmStage, type StageOptions } from './slurm-stage.ts';
