/**
 * `make bench BENCH=cli`: size and start of the plugin, and `doctor` on a large cluster. CPU time (of the plugin alone) beside the time that
 * passed: on a busy machine only the first can be compared.
 */
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

/** Writes the CPU time of the process to stderr as its last line. */
const reporter = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write('\\n' + (user + system) / 1000 + '\\n'); });",
)}`;
const lastNumber = (text: string): number => Number(text.trim().split('\n').at(-1));

interface Measured {
  readonly ms: number;
  readonly cpuMs: number;
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const round = (ms: number): number => Math.round(ms);

const directory = mkdtempSync(join(tmpdir(), 'kubectl-slurm-bench-'));
try {
  const { content, unpacked, atStart } = await bundleCli();
  const file = join(directory, 'kubectl-slurm');
  writeFileSync(file, content, { mode: 0o755 });
  const time = (words: readonly string[]): Measured => {
    const start = (before: readonly string[]) => {
      const began = performance.now();
      const { status, stderr } = spawnSync(process.execPath, [...before, ...words], { encoding: 'utf8' });
      if (status !== 0) throw new Error(`node ${words.join(' ')}: ${stderr}`);
      return { ms: performance.now() - began, stderr };
    };
    return { ms: start([]).ms, cpuMs: lastNumber(start(['--import', reporter]).stderr) };
  };
  const medians = (measured: readonly Measured[]): Measured => ({
    ms: median(measured.map(({ ms }) => ms)),
    cpuMs: median(measured.map(({ cpuMs }) => cpuMs)),
  });
  const starts = Array.from({ length: rounds }, () => ({
    bare: time(['-e', '0']),
    help: time([file, '--help']),
  }));
  const bare = medians(starts.map((each) => each.bare));
  const help = medians(starts.map((each) => each.help));

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
      const child = spawn(process.execPath, ['--import', reporter, file, ...words, '-n', 'hpc'], {
        env: { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: '1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let out = '';
      let err = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
      const [code] = (await once(child, 'close')) as [number | null];
      if (code === null || code > 1)
        throw new Error(`kubectl slurm ${words.join(' ')} ended with ${code}: ${err}`);
      return { ms: performance.now() - began, cpuMs: lastNumber(err), out };
    };
    const measured: { readonly doctor: Measured; readonly status: Measured }[] = [];
    let last = '';
    for (let count = 0; count < rounds; count += 1) {
      const found = await measure(['doctor']);
      last = found.out;
      measured.push({ doctor: found, status: await measure(['status']) });
    }
    const doctor = medians(measured.map((each) => each.doctor));
    const status = medians(measured.map((each) => each.status));
    const kilobytes = Math.round(Buffer.byteLength(content) / 1024);
    console.log(last.trim().split('\n').at(-1));
    const figures = new Figures();
    const both = (title: string, key: string, { ms, cpuMs }: Measured): void => {
      figures.note(`${title} (ms)`, `${key}_ms`, round(ms));
      figures.note(`${title}: its CPU time (ms)`, `${key}_cpu_ms`, round(cpuMs));
    };
    figures.note('rules of doctor', 'rules', rules.length);
    figures.note('bundle (kB)', 'bundle_kb', kilobytes);
    figures.note('of it every command loads, unpacked (kB)', 'bundle_start_kb', Math.round(atStart / 1024));
    figures.note('all of it, unpacked (kB)', 'bundle_unpacked_kb', Math.round(unpacked / 1024));
    both('node -e 0', 'node', bare);
    both('--help', 'help', help);
    both(`status, ${workers} workers`, 'status', status);
    both(`doctor, ${workers} workers, ${jobs} jobs`, 'doctor_1000_workers', doctor);
    figures.printJson('cli');
  } finally {
    await world.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
