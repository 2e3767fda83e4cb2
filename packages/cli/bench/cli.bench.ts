/** `make bench BENCH=cli`: size and start of the plugin, and `doctor` on a large cluster. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rules } from '@slurm-operator/advice';
import { draftOf, pods } from '@slurm-operator/kube';
import { Figures } from '../../../tools/bench/figures.ts';
import { bundleCli } from '../src/bundle.ts';
import { CliWorld } from '../testing/cli-world.ts';

const workers = 1000;
const jobs = 10_000;
const rounds = 7;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const round = (ms: number): number => Math.round(ms);

const directory = mkdtempSync(join(tmpdir(), 'kubectl-slurm-bench-'));
try {
  const { content, unpacked } = await bundleCli();
  const file = join(directory, 'kubectl-slurm');
  writeFileSync(file, content, { mode: 0o755 });
  const time = (words: readonly string[], env: NodeJS.ProcessEnv = process.env): number => {
    const began = performance.now();
    const { status, stderr } = spawnSync(process.execPath, [file, ...words], { env, encoding: 'utf8' });
    if (status === null || status > 1) throw new Error(`kubectl slurm ${words.join(' ')}: ${stderr}`);
    return performance.now() - began;
  };
  const bare = median(
    Array.from({ length: rounds }, () => {
      const began = performance.now();
      spawnSync(process.execPath, ['-e', '0']);
      return performance.now() - began;
    }),
  );
  const help = median(Array.from({ length: rounds }, () => time(['--help'])));

  const world = await CliWorld.start(`w-[0-${workers - 1}]`);
  try {
    for (let index = 0; index < workers; index += 1)
      await world.client.create(
        pods,
        draftOf(pods, {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {
            name: `w-${index}`,
            namespace: 'hpc',
            labels: {
              'app.kubernetes.io/component': 'worker',
              'nodeset.slinky.slurm.net/pod-hostname': `w-${index}`,
            },
          },
          spec: { containers: [{ name: 'slurmd', image: 'slurmd:26.05' }] },
        }),
      );
    const slurm = world.slurm.cluster;
    for (let index = 0; index < jobs; index += 1) {
      const job = { user: `user-${index % 50}`, cpusPerNode: 4, timeLimit: 600 };
      if (index < workers) slurm.runJob([`w-${index}`], job);
      else slurm.createJob({ ...job, reason: index % 2 === 0 ? 'Resources' : 'Priority' });
    }
    const kubeconfig = join(directory, 'kubeconfig');
    writeFileSync(kubeconfig, world.server.kubeconfig());
    // In a process of its own, as users run it: the API server and Slurm are simulated in this one.
    const measure = async (words: readonly string[]) => {
      const began = performance.now();
      const child = spawn(process.execPath, [file, ...words, '-n', 'hpc'], {
        env: { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: '1' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      const [code] = (await once(child, 'close')) as [number | null];
      if (code === null || code > 1) throw new Error(`kubectl slurm ${words.join(' ')} ended with ${code}`);
      return { ms: performance.now() - began, out };
    };
    const doctor: number[] = [];
    const status: number[] = [];
    let last = '';
    for (let count = 0; count < rounds; count += 1) {
      const found = await measure(['doctor']);
      doctor.push(found.ms);
      last = found.out;
      status.push((await measure(['status'])).ms);
    }
    const kilobytes = Math.round(Buffer.byteLength(content) / 1024);
    console.log(last.trim().split('\n').at(-1));
    const figures = new Figures();
    figures.note('rules of doctor', 'rules', rules.length);
    figures.note('bundle (kB)', 'bundle_kb', kilobytes);
    figures.note('the same, unpacked (kB)', 'bundle_unpacked_kb', Math.round(unpacked / 1024));
    figures.note('node -e 0 (ms)', 'node_ms', round(bare));
    figures.note('--help (ms)', 'help_ms', round(help));
    figures.note(`status, ${workers} workers (ms)`, 'status_ms', round(median(status)));
    figures.note(
      `doctor, ${workers} workers, ${jobs} jobs (ms)`,
      'doctor_1000_workers_ms',
      round(median(doctor)),
    );
    figures.printJson('cli');
  } finally {
    await world.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
