/** The program `webhook`: answers the API server's admission reviews. */
import { runProgram } from './programs/run-program.ts';
import { runWebhook } from './programs/run-webhook.ts';

await runProgram((args, env, signal) => runWebhook(args, env, signal));
