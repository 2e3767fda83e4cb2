/**
 * How quick the embedded server is: start, creates, watch events to ten watchers, a list of 10,000 pods, memory with them,
 * and how many recorded exchanges it passes. The server runs as a program of its own, so that client and server do
 * not share a heap or a thread.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Figures } from '../../../tools/bench/figures.ts';
import { scratchDirectory } from '../../sandbox/src/directories.ts';
import { recordedCases, topicOf } from '../testing/contract/case.ts';
import { EmbeddedRun } from '../testing/contract/embedded-run.ts';
import { knownDifferences } from '../testing/contract/weights.ts';

const scratch = scratchDirectory('apiserver-bench');
const kubeconfigFile = join(scratch, 'kubeconfig');
const main = join(import.meta.dirname, '../src/main.ts');

interface Connection {
  readonly url: string;
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

async function startProgram(): Promise<{ child: ChildProcess; milliseconds: number }> {
  const began = performance.now();
  const child = spawn(process.execPath, [main, '--kubeconfig', kubeconfigFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready = Promise.withResolvers<void>();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (text.includes('ready')) ready.resolve();
  });
  child.once('exit', (code) => ready.reject(new Error(`the server ended with ${code} before it was ready`)));
  await ready.promise;
  return { child, milliseconds: performance.now() - began };
}

function connection(): Connection {
  const config = parse(readFileSync(kubeconfigFile, 'utf8')) as {
    clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
    users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
  };
  const [cluster] = config.clusters;
  const [user] = config.users;
  if (cluster === undefined || user === undefined)
    throw new Error('the kubeconfig names no cluster or no user');
  const decode = (text: string) => Buffer.from(text, 'base64');
  return {
    url: cluster.cluster.server,
    ca: decode(cluster.cluster['certificate-authority-data']),
    cert: decode(user.user['client-certificate-data']),
    key: decode(user.user['client-key-data']),
  };
}

const agent = new Agent({ keepAlive: true, maxSockets: 32 });

function call(
  to: Connection,
  method: string,
  path: string,
  body?: string,
): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const { url, ...tls } = to;
    const headers =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(`${url}${path}`, { method, agent, headers, ...tls }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function pod(name: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'bench', 'pod-template-hash': 'abcdef' } },
    spec: {
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'worker',
          image: 'registry.example/worker:1',
          env: [{ name: 'A', value: 'b' }],
          ports: [{ containerPort: 6818 }],
        },
      ],
    },
  });
}

/** Creates with 32 requests in flight; creates per second. */
async function creates(
  to: Connection,
  count: number,
  of: (index: number) => [path: string, body: string],
): Promise<number> {
  const began = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const [path, body] = of(next++);
      const { status } = await call(to, 'POST', path, body);
      if (status !== 201) throw new Error(`POST ${path} answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  return count / ((performance.now() - began) / 1000);
}

/** Ten watchers of the same kind while objects are made; events received per second, all watchers together. */
async function watchEvents(to: Connection, count: number): Promise<number> {
  const { url, ...tls } = to;
  const watchers = 10;
  let received = 0;
  const all = Promise.withResolvers<void>();
  const opened = Array.from({ length: watchers }, () => {
    const open = Promise.withResolvers<() => void>();
    const sent = request(
      `${url}/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0`,
      { agent: false, ...tls },
      (response) => {
        open.resolve(() => sent.destroy());
        response.on('data', (chunk: Buffer) => {
          for (const byte of chunk) if (byte === 10) received += 1;
          if (received >= watchers * (count + 1)) all.resolve();
        });
        response.on('error', () => {});
      },
    );
    sent.on('error', () => {});
    sent.end();
    return open.promise;
  });
  const close = await Promise.all(opened);
  const began = performance.now();
  await creates(to, count, (index) => [
    '/api/v1/namespaces/default/configmaps',
    JSON.stringify({ metadata: { name: `w-${index}` }, data: { value: String(index) } }),
  ]);
  await all.promise;
  const seconds = (performance.now() - began) / 1000;
  for (const one of close) one();
  return (watchers * count) / seconds;
}

/** What the server itself used, in milliseconds of processor time: tells more than the clock on a busy machine. */
function processorMilliseconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
  const ticksPerSecond = 100;
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / ticksPerSecond;
}

function residentMegabytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

async function contract(): Promise<{ passed: number; failed: number; known: number }> {
  const run = await EmbeddedRun.start();
  let passed = 0;
  let failed = 0;
  let known = 0;
  for (const recorded of recordedCases().filter((one) => topicOf(one) !== 'controllers'))
    if ((await run.replay(recorded)) === undefined) passed += 1;
    else if (knownDifferences[recorded.name] === undefined) failed += 1;
    else known += 1;
  await run.stop();
  return { passed, failed, known };
}

const { child, milliseconds } = await startProgram();
const pid = child.pid ?? 0;
const to = connection();
const readyProcessor = processorMilliseconds(pid);
const createsPerSecond = await creates(to, 5000, (index) => [
  '/api/v1/namespaces/default/pods',
  pod(`pod-${index}`),
]);
const createProcessor = (processorMilliseconds(pid) - readyProcessor) / 5000;
await creates(to, 5000, (index) => ['/api/v1/namespaces/default/pods', pod(`more-${index}`)]);
const listBegan = performance.now();
const list = await call(to, 'GET', '/api/v1/pods');
const listMilliseconds = performance.now() - listBegan;
const megabytes = residentMegabytes(pid);
const events = await watchEvents(to, 2000);
child.removeAllListeners('exit');
child.kill('SIGTERM');
agent.destroy();
const suite = await contract();
rmSync(scratch, { recursive: true, force: true });

console.log(`list of 10,000 pods: ${(list.bytes / 1024 / 1024).toFixed(1)} MB`);
const figures = new Figures();
figures.note('from the start of the process until it serves (ms)', 'ready_ms', milliseconds, { below: 1000 });
figures.note('creates per second', 'creates_per_s', createsPerSecond, { least: 1000 });
figures.note('CPU until it serves (ms)', 'ready_cpu_ms', readyProcessor);
figures.note('CPU of one create (ms)', 'create_cpu_ms', createProcessor);
figures.note('watch events per second, ten watchers', 'watch_events_per_s', events);
figures.note('list of 10,000 pods (ms)', 'list_10k_ms', listMilliseconds);
figures.note('memory with 10,000 pods (MB)', 'rss_mb_10k_pods', megabytes, { below: 400 });
figures.note('recorded exchanges that pass', 'contract_passed', suite.passed);
figures.note('recorded exchanges with a named difference', 'contract_known_differences', suite.known);
figures.note('recorded exchanges that fail', 'contract_failed', suite.failed, 0);
figures.printJson('apiserver');
