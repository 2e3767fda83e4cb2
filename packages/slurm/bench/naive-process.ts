/** What a client without a cache does: every 30 seconds all nodes and all jobs. In a process of its own. */
import { request } from 'node:http';

const { SLURM_SERVER: server = '', SLURM_JWT: token = '' } = process.env;

async function read(path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const call = request(
      `${server}/slurm/v0.0.45/${path}`,
      { headers: { 'x-slurm-user-token': token } },
      (answer) => {
        answer.resume();
        answer.on('end', resolve);
        answer.on('error', reject);
      },
    );
    call.on('error', reject);
    call.end();
  });
}

async function poll(): Promise<void> {
  await read('nodes/');
  await read('jobs/');
}

await poll();
setInterval(() => void poll(), 30_000);
process.on('disconnect', () => process.exit(0));
