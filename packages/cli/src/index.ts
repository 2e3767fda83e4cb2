/** kubectl slurm as a library: for tests, benchmarks and the generators. */
export { commands } from './commands/index.ts';
export type { Io } from './io.ts';
export { run } from './run.ts';
