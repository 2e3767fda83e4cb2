/** The rules of doctor, for commands that load them only if they need them: `await import` of this module. */
export { diagnose } from '@slurm-operator/advice';
