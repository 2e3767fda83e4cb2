/** The program `manager`: all controllers in one process. */
import { runManager } from './programs/run-manager.ts';
import { runProgram } from './programs/run-program.ts';

await runProgram((args, env, signal) => runManager(args, env, signal));
