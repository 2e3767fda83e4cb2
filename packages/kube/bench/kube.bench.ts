/** `make bench BENCH=kube`: what the runtime costs. Each part runs in processes of its own. */
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { Figures, type Goal } from '../../../tools/bench/figures.ts';
import { scratchDirectory } from '../../sandbox/src/directories.ts';
import { Queue } from '../src/index.ts';
import { runCacheClient } from './cache-client.ts';
import { measureCreates, median, runApiServer, type ServerAccess } from './create-rate.ts';
import { runReplayServer } from './replay-server.ts';

const PODS = 50_000;
const EVENTS_PER_SECOND = 2_000;
const WATCH_SECONDS = 10;
const CREATES = 1_000;
const STARTS = 7;

/** Unit and goal of each figure; one without a goal is for comparison. */
const goals: Readonly<Record<string, { readonly unit: string; readonly goal?: Goal }>> = {
  cache_50k_seconds: { unit: 's', goal: { below: 6 } },
  cache_50k_rss_mb: { unit: 'MB', goal: { below: 200 } },
  max_stall_ms: { unit: 'ms', goal: { below: 100 } },
  watch_cpu_percent: { unit: '% of a core', goal: { below: 30 } },
  create_rate_ratio: { unit: 'of raw HTTP', goal: { least: 0.9 } },
  queue_million_seconds: { unit: 's', goal: { below: 2 } },
  start_ms: { unit: 'ms', goal: { below: 150 } },
  start_rss_mb: { unit: 'MB', goal: { below: 70 } },
  official_client_import_rss_mb: { unit: 'MB' },
};

const [role, ...args] = process.argv.slice(2);
if (role === 'replay-server') await runReplayServer(Number(args[0]), Number(args[1]));
else if (role === 'cache-client') await runCacheClient(args[0] ?? '', args[1] ?? '', PODS, WATCH_SECONDS);
else if (role === 'api-server') await runApiServer();
else await measure();

async function measure(): Promise<void> {
  const cache = await measureCache();
  const creates = await measureCreateRate();
  const start = measureStart();
  const official = measureOfficial();
  const figures: Record<string, number> = {
    cache_50k_seconds: cache.seconds,
    cache_50k_rss_mb: cache.rss,
    max_stall_ms: cache.stall,
    watch_cpu_percent: cache.cpuPercent,
    create_rate_ratio: creates.client / creates.raw,
    queue_million_seconds: measureQueue(),
    start_ms: start.milliseconds,
    start_rss_mb: start.rss,
    official_client_import_rss_mb: official.rss,
  };
  const table = new Figures();
  for (const [key, { unit, goal }] of Object.entries(goals))
    table.note(`${key} (${unit})`, key, figures[key] ?? Number.NaN, goal);
  const extras = {
    pod_bytes: cache.podBytes,
    watch_events_per_second: Math.round(cache.eventsPerSecond),
    raw_creates_per_second: Math.round(creates.raw),
    client_creates_per_second: Math.round(creates.client),
    official_client_import_ms: Math.round(official.milliseconds),
  };
  for (const [key, value] of Object.entries(extras)) table.note(key, key, value);
  table.printJson('kube');
}

function child(part: string, partArgs: readonly string[], execArgv: readonly string[] = []): ChildProcess {
  return fork(fileURLToPath(import.meta.url), [part, ...partArgs], { execArgv: [...execArgv] });
}

async function firstMessage<T>(from: ChildProcess): Promise<T> {
  const ended = once(from, 'exit').then(() => {
    throw new Error('a part of the benchmark ended without its figures');
  });
  const [message] = (await Promise.race([once(from, 'message'), ended])) as [T];
  ended.catch(() => undefined);
  return message;
}

async function measureCache() {
  const server = child('replay-server', [String(PODS), String(EVENTS_PER_SECOND)]);
  try {
    const { url, ca, podBytes } = await firstMessage<{ url: string; ca: string; podBytes: number }>(server);
    // The flag that the operator's own images start with: a small young generation keeps the heap compact.
    const client = child('cache-client', [url, ca], ['--max-semi-space-size=4']);
    const figures = await firstMessage<{
      seconds: number;
      rss: number;
      stall: number;
      cpuPercent: number;
      eventsPerSecond: number;
    }>(client);
    return { ...figures, podBytes };
  } finally {
    server.kill();
  }
}

async function measureCreateRate() {
  const server = child('api-server', []);
  try {
    return await measureCreates(await firstMessage<ServerAccess>(server), CREATES);
  } finally {
    server.kill();
  }
}

function measureQueue(): number {
  const rounds = Array.from({ length: 3 }, () => {
    const queue = new Queue();
    const keys = Array.from({ length: 10_000 }, (_, i) => `namespace/object-${i}`);
    const began = performance.now();
    for (let round = 0; round < 100; round += 1) {
      for (const key of keys) queue.add(key);
      for (let key = queue.tryGet(); key !== undefined; key = queue.tryGet()) queue.done(key);
    }
    return (performance.now() - began) / 1000;
  });
  return median(rounds);
}

/** An empty manager, bundled as an operator's image is, from the start of its process until it runs. */
function measureStart() {
  const directory = scratchDirectory('kube-bench');
  try {
    const bundle = join(directory, 'start.mjs');
    buildSync({
      stdin: {
        contents: `
          import { createLog, createManager } from './src/index.ts';
          const manager = await createManager({
            name: 'empty',
            config: { server: 'https://127.0.0.1:1', namespace: 'default', identity: async () => ({}) },
            log: createLog('empty', { level: 'error' }),
            health: { port: 0, host: '127.0.0.1' },
            metrics: { port: 0, host: '127.0.0.1' },
          });
          manager.add({ name: 'probe', async run() {
            console.log(JSON.stringify({ milliseconds: performance.now(), rss: process.memoryUsage.rss() / 2 ** 20 }));
            process.exit(0);
          } });
          await manager.start(new AbortController().signal);`,
        resolveDir: join(import.meta.dirname, '..'),
        loader: 'ts',
      },
      bundle: true,
      minify: true,
      platform: 'node',
      format: 'esm',
      target: 'node24',
      outfile: bundle,
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
      logLevel: 'error',
    });
    return runs(['--max-semi-space-size=4', bundle]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function measureOfficial() {
  const code = `await import('@kubernetes/client-node');
    console.log(JSON.stringify({ milliseconds: performance.now(), rss: process.memoryUsage.rss() / 2 ** 20 }));`;
  return runs(['--max-semi-space-size=4', '--input-type=module', '-e', code]);
}

/** Medians over several starts of a program that prints its own figures. */
function runs(command: readonly string[]): { milliseconds: number; rss: number } {
  const figures = Array.from({ length: STARTS }, () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [...command], {
      encoding: 'utf8',
      cwd: join(import.meta.dirname, '..', '..', '..'),
    });
    if (status !== 0) throw new Error(`a start failed: ${stderr}`);
    return JSON.parse(stdout) as { milliseconds: number; rss: number };
  });
  return {
    milliseconds: median(figures.map((figure) => figure.milliseconds)),
    rss: median(figures.map((figure) => figure.rss)),
  };
}
