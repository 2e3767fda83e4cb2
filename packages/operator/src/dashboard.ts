/** The program `dashboard`: a live web page of the clusters. */
import { runDashboard } from './programs/run-dashboard.ts';
import { runProgram } from './programs/run-program.ts';

await runProgram((args, env, signal) => runDashboard(args, env, signal));
