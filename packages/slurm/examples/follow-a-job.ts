/** Submits a job, follows it and prints its end: `SLURM_SERVER=http://slurm:6820 SLURM_JWT=… node follow-a-job.ts`. */
import { hasEnded, JobWatch, SlurmClient, staticToken } from '@slurm-operator/slurm';

using client = new SlurmClient({
  server: process.env['SLURM_SERVER'] ?? 'http://localhost:6820',
  token: staticToken(process.env['SLURM_JWT'] ?? ''),
});
const { id } = await client.jobs.submit({
  name: 'hello',
  script: '#!/bin/sh\nsleep 3\nexit 7\n',
  timeLimit: '00:05:00',
});
console.log(`submitted job ${id} to ${client.about.cluster} (Slurm ${client.about.release})`);

const watch = new JobWatch({ client });
const end = new Promise<void>((resolve) => {
  watch.subscribe(({ view }) => {
    if (view.kind === 'unknown') return console.log(`waiting for Slurm: ${view.why.message}`);
    const state = view.states.get(String(id));
    console.log(`job ${id} is ${state?.join('+') ?? 'gone'}`);
    if (state === undefined || hasEnded(state)) resolve();
  });
});
using _fast = watch.pollFast(); // poll every second
watch.start();
await end;
const job = await client.jobs.get(id);
console.log(`job ${id} ended ${job?.state.join('+')} with code ${job?.exitCode} on ${job?.nodes}`);
await watch.stop();
