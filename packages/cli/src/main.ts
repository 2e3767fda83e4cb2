/** `kubectl-slurm`, as kubectl finds it on the path. */
import { processIo } from './io.ts';
import { run } from './run.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    interrupted.abort(new Error(signal));
    // What does not listen to the signal ends with the process; a second signal ends it at once.
    setTimeout(() => process.exit(130), 3_000).unref();
  });
// No top-level await: the program is one CommonJS function in its file.
void main();

async function main(): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), { io: processIo(), signal: interrupted.signal });
}
