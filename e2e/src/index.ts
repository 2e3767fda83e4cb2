/** A stage for tests of the whole. */
export { OperatorProcess } from './operator-process.ts';
export { namespace, operatorUser, SlurmStage, type StageOptions } from './slurm-stage.ts';
