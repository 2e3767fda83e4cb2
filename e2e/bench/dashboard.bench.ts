/**
 * The dashboard with many browsers on a large Slurm: memory and CPU of its server, how soon the page is there, how fast a filter answers and
 * a change is seen, and that requests to slurmrestd do not grow with browsers. Slurm is simulated, and as slow as the real one.
 * `NODES`, `JOBS`, `STREAMS` and `SECONDS` make it smaller.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { buildPage } from '@slurm-operator/dashboard/build-page';
import { SlurmClient, staticToken } from '@slurm-operator/slurm';
import { Simulated } from '../../packages/slurm/bench/simulated.ts';
import { Figures } from '../../tools/bench/figures.ts';
import { openBrowser } from '../src/browser/open-browser.ts';
import type { ServerAnswer } from './dashboard-process.ts';

const size = (name: string, standard: number) => Number(process.env[name] ?? standard);
const nodes = size('NODES', 5_000);
const jobs = size('JOBS', 100_000);
const streams = size('STREAMS', 500);
const seconds = size('SECONDS', 60);
const perUser = 10;
const at = '/api/clusters/slurm/slurm';

const figures = new Figures();
const directory = await mkdtemp(join(tmpdir(), `dashboard-bench-${process.pid}-`));
const { javascriptGzipBytes } = await buildPage(directory);
await using simulated = await Simulated.start({ nodes, jobs, pingEveryMs: 0 });
const child = fork(
  join(import.meta.dirname, 'dashboard-process.ts'),
  [simulated.server, simulated.token, directory],
  {
    execArgv: ['--max-semi-space-size=4'],
  },
);
let heard: ServerAnswer[] = [];
let peak = 0;
child.on('message', (answer: ServerAnswer) => {
  heard.push(answer);
  if (answer.kind === 'usage') peak = Math.max(peak, answer.rss);
});

async function hear<K extends ServerAnswer['kind']>(
  kind: K,
  matches: (answer: ServerAnswer & { kind: K }) => boolean = () => true,
): Promise<ServerAnswer & { kind: K }> {
  const deadline = Date.now() + 900_000;
  while (Date.now() < deadline) {
    const found = heard.find(
      (one): one is ServerAnswer & { kind: K } =>
        one.kind === kind && matches(one as ServerAnswer & { kind: K }),
    );
    if (found !== undefined) return found;
    if (child.exitCode !== null) throw new Error('the server ended');
    await pause(20);
  }
  throw new Error(`no ${kind} within 15 minutes`);
}

async function usage() {
  heard = heard.filter(({ kind }) => kind !== 'usage');
  child.send('usage');
  return hear('usage');
}

const { port } = await hear('listening');
const origin = `http://127.0.0.1:${port}`;

async function logIn(user: string): Promise<string> {
  const body = JSON.stringify({ token: user });
  const sent = request(`${origin}/api/login`, {
    method: 'POST',
    headers: { Origin: origin, 'Content-Type': 'application/json', 'Content-Length': body.length },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return String(response.headers['set-cookie']).split(';')[0] ?? '';
}

async function requestsWithin(seconds_: number): Promise<number> {
  await simulated.bytes('watch');
  await pause(seconds_ * 1000);
  const { requests } = await simulated.bytes('watch');
  return Object.values(requests).reduce((sum, one) => sum + one, 0);
}

const began = Date.now();
const filled = await hear('filled');
console.log(
  `${filled.nodes} nodes and ${filled.jobs} jobs are there after ${((Date.now() - began) / 1000).toFixed(1)} s`,
);
figures.note('JavaScript of the page, kB (gzip)', 'javascript_gzip_kb', javascriptGzipBytes / 1000, 60);

await using opened = await openBrowser();
const context = await opened.browser.newContext({ baseURL: origin });
const page = await context.newPage();
await page.goto('/');
await page.getByLabel('Token').fill('viewer');
await page.getByRole('button', { name: 'Log in' }).click();
await page.getByRole('button', { name: 'Log out' }).waitFor();
await page.goto('/c/slurm/slurm/nodes');
await page.getByRole('cell', { name: 'n0', exact: true }).waitFor();
const paint = Number(
  await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"),
);
figures.note('first paint of the page of nodes, ms', 'first_paint_ms', paint, { below: 1_000 });

const cookie = await logIn('bench');
const times: number[] = [];
for (const query of [
  'state=PENDING&sort=priority',
  'user=slurm&sort=name',
  'name=*job*&sort=submittedAt&order=descending',
  'node=n7&sort=id',
])
  for (let round = 0; round < 5; round += 1) {
    const start = performance.now();
    const [response] = (await once(
      get(`${origin}${at}/jobs?${query}`, { headers: { Cookie: cookie } }),
      'response',
    )) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    times.push(performance.now() - start);
  }
times.sort((a, b) => a - b);
figures.note(
  'filter and sort of all jobs, ms (median)',
  'filter_sort_ms',
  times[Math.floor(times.length / 2)] ?? 0,
  { below: 100 },
);

figures.note(
  `requests to slurmrestd in ${seconds} s, 1 browser`,
  'slurm_requests_1_browser',
  await requestsWithin(seconds),
);
const open: IncomingMessage[] = [];
for (let user = 0; open.length < streams; user += 1) {
  const own = await logIn(`user-${user}`);
  for (let tab = 0; tab < perUser && open.length < streams; tab += 1) {
    const headers = { Cookie: own, 'Accept-Encoding': 'br' };
    const [stream] = (await once(get(`${origin}${at}/stream`, { headers, agent: false }), 'response')) as [
      IncomingMessage,
    ];
    if (stream.statusCode !== 200) throw new Error(`stream ${open.length}: ${stream.statusCode}`);
    stream.resume();
    open.push(stream);
    const [snapshot] = (await once(get(`${origin}${at}/nodes`, { headers }), 'response')) as [
      IncomingMessage,
    ];
    snapshot.resume();
  }
}
const before = await usage();
const many = await requestsWithin(seconds);
const after = await usage();
figures.note(
  `requests to slurmrestd in ${seconds} s, ${streams} browsers`,
  'slurm_requests_500_browsers',
  many,
);
figures.note(
  'CPU of the server, cores, idle',
  'idle_cpu_cores',
  (after.cpuMs - before.cpuMs) / (seconds * 1000),
  { below: 0.2 },
);

const slurm = new SlurmClient({ server: simulated.server, token: staticToken(simulated.token) });
const delays: number[] = [];
for (let index = 0; index < 3; index += 1) {
  const node = `n${index}`;
  await slurm.nodes.drain(node, `bench: ${index}`);
  const { at: listedAt } = await hear('listed', (one) => one.node === node);
  await page
    .getByRole('row')
    .filter({ hasText: `bench: ${index}` })
    .waitFor();
  delays.push(Date.now() - listedAt);
}
slurm.close();
figures.note(
  "a node's change on screen after Slurm lists it, ms (slowest)",
  'change_on_screen_ms',
  Math.max(...delays),
  { below: 2_000 },
);
await usage();
figures.note('memory of the server, MB (largest seen)', 'rss_mb', peak / 1e6, { below: 300 });

for (const stream of open) stream.destroy();
await context.close();
child.disconnect();
await once(child, 'exit');
await rm(directory, { recursive: true, force: true });
figures.printJson('dashboard', { nodes, jobs, streams });
