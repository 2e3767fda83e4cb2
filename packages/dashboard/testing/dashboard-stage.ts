/** A dashboard over a simulated Slurm: people with tokens that say who they are, and rights from a list. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@slurm-operator/slurm';
import { type SimulatorOptions, startSimulator } from '@slurm-operator/slurm/testing';
import type { ClusterObjects, ClusterView, ClusterViews } from '../src/api/cluster-view.ts';
import { NoSlurmToken } from '../src/api/cluster-view.ts';
import { assembleDashboard } from '../src/assemble.ts';
import { ClusterFeed } from '../src/feed/cluster-feed.ts';
import type { AuditLine } from '../src/http/dashboard-server.ts';
import { StaticFiles } from '../src/http/static-files.ts';
import { Access } from '../src/identity/access.ts';
import { Login, type ProxyOptions } from '../src/identity/login.ts';
import { Sessions } from '../src/identity/sessions.ts';
import { type Right, rights } from '../src/live/rights.ts';

export interface StageOptions {
  readonly simulator?: SimulatorOptions;
  /** What each user may do; `alice` may do everything with jobs by default. */
  readonly grants?: Readonly<Record<string, readonly Right[]>>;
  readonly proxy?: ProxyOptions;
  readonly page?: string;
  readonly objects?: () => ClusterObjects;
  readonly planRollout?: ClusterView['planRollout'];
  readonly jobTemplates?: ClusterView['jobTemplates'];
  readonly idleTimeoutMs?: number;
  /** Of the empty page. */
  readonly script?: string;
}

/** The fields that tests read; which of them an answer has depends on its route. */
export interface ReplyBody {
  readonly message: string;
  readonly field: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly id: number;
  readonly version: number;
  readonly total: number;
  readonly onlyOwn: boolean;
  readonly rows: readonly { readonly name: string; readonly user: string }[];
  readonly job: { readonly name: string };
  readonly place: { readonly before: number; readonly pending: number };
  readonly results: readonly { readonly id: string; readonly done: boolean; readonly message: string }[];
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: ReplyBody;
}

const ref = { namespace: 'slurm', name: 'slurm' };
const path = `/api/clusters/${ref.namespace}/${ref.name}`;

export async function startDashboard(options: StageOptions = {}) {
  const simulator = await startSimulator(options.simulator ?? { nodes: 'n[0-9]' });
  const clock = systemClock;
  const follow = (firstVersion: number) => {
    const feed = new ClusterFeed({
      client: simulator.client({ user: 'dashboard' }),
      clock,
      firstVersion,
      pace: { fastMs: 20, idleMinMs: 50 },
    });
    feed.start();
    return feed;
  };
  const feed = follow(1);
  let latest = feed;
  const grants: Readonly<Record<string, readonly Right[]>> = {
    alice: ['see', 'submit', 'changeJobs', 'cancelJobs'],
    ...options.grants,
  };
  const patched: string[] = [];
  const view: ClusterView = {
    ref,
    feed,
    objects: options.objects ?? (() => undefined),
    reader: simulator.client({ user: 'dashboard' }),
    slurmIdentity: ({ user }) =>
      user.username === 'robot'
        ? { kind: 'none', why: 'it is not the name of a Linux account' }
        : { kind: 'user', name: user.username },
    configFiles: () => {
      const text = 'ClusterName=slurm_slurm\nSchedulerType=sched/backfill\nMaxJobCount=100000\n';
      const tried = text.replace('sched/backfill', 'sched/backfil');
      return Promise.resolve({ inForce: { 'slurm.conf': text }, tried: { 'slurm.conf': tried } });
    },
    jobTemplates: options.jobTemplates ?? (() => Promise.resolve([])),
    planRollout: options.planRollout ?? (() => Promise.resolve(undefined)),
    pauseRollout: async ({ user }, nodeSet, paused) => {
      patched.push(`${user.username} ${paused ? 'pauses' : 'resumes'} ${nodeSet}`);
    },
    actAs: async ({ user }, scope) => {
      if (user.username === 'robot') throw new NoSlurmToken('robot is no user of Slurm.', 403);
      const client = simulator.client({ user: scope === 'nodes' ? 'slurm' : user.username });
      return { client, user: user.username, [Symbol.dispose]: () => client.close() };
    },
  };
  const views: ClusterViews = {
    list: () => [{ ...view, feed: latest }],
    find: ({ namespace, name }) =>
      namespace === ref.namespace && name === ref.name ? { ...view, feed: latest } : undefined,
  };
  const access = new Access({
    clock,
    review: async (user, { resource, subresource, verb }) =>
      (grants[user.username] ?? []).some((right) => {
        const wanted: { resource: string; subresource?: string; verb: string } = rights[right];
        return wanted.resource === resource && wanted.subresource === subresource && wanted.verb === verb;
      }),
  });
  const sessions = new Sessions({ clock });
  const directory = options.page ?? (await emptyPage(options.script));
  const audited: AuditLine[] = [];
  const errors: unknown[] = [];
  const dashboard = assembleDashboard({
    views,
    clock,
    ...(options.idleTimeoutMs !== undefined && { idleTimeoutMs: options.idleTimeoutMs }),
    hosts: 'any',
    secure: false,
    sessions,
    access,
    login: new Login({
      sessions,
      clock,
      expiryOf: () => undefined,
      review: async (token) => (/^token-of-[a-z]+$/.test(token) ? { username: token.slice(9) } : undefined),
      ...(options.proxy && { proxy: options.proxy }),
    }),
    files: await StaticFiles.read(directory),
    audit: (line) => audited.push(line),
    onError: (error) => errors.push(error),
  });
  const { server, streams } = dashboard;
  const port = await server.listen(0, '127.0.0.1');
  const origin = `http://127.0.0.1:${port}`;

  const ask = (
    method: string,
    target: string,
    over: { headers?: Record<string, string>; body?: unknown } = {},
  ) => call(port, method, target, { ...over.headers }, over.body);
  const post = (target: string, body: unknown, headers: Record<string, string> = {}) =>
    ask('POST', target, {
      body,
      headers: { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json', ...headers },
    });
  /** The cookie of a user who logged in. */
  const login = async (user: string): Promise<{ cookie: string }> => {
    const { headers, status, text } = await post('/api/login', { token: `token-of-${user}` });
    if (status !== 200) throw new Error(`login of ${user}: ${status} ${text}`);
    return { cookie: String(headers['set-cookie']).split(';')[0] ?? '' };
  };
  return {
    simulator,
    feed,
    server,
    port,
    origin,
    path,
    ask,
    post,
    login,
    audited,
    /** Who paused and resumed which rollout. */
    patched,
    errors,
    streams,
    /** As after a Cluster was deleted and created again. */
    async replaceFeed() {
      const before = latest;
      latest = follow(1_000_000);
      await before[Symbol.asyncDispose]();
      return latest;
    },
    [Symbol.asyncDispose]: async () => {
      await dashboard[Symbol.asyncDispose]();
      await latest[Symbol.asyncDispose]();
      await simulator[Symbol.asyncDispose]();
      if (options.page === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}

async function emptyPage(script = 'export {};'): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `dashboard-page-${process.pid}-`));
  await writeFile(join(directory, 'index.html'), '<!doctype html><title>page</title>');
  await writeFile(join(directory, 'main.js'), script);
  return directory;
}

function call(
  port: number,
  method: string,
  target: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sent = request(
    { host: '127.0.0.1', port, method, path: target, headers, agent: false },
    (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => {
        const isJson = (response.headers['content-type'] ?? '').includes('json');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: (isJson && text !== '' ? JSON.parse(text) : {}) as ReplyBody,
        });
      });
    },
  );
  sent.on('error', reject);
  sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  return promise;
}
