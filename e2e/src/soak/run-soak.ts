/** Random operations on a cluster whose workers all have jobs; then rest, and the account of what was lost and by whose hand. */
import { readFileSync } from 'node:fs';
import { nodes, pods, sleep } from '@slurm-operator/kube';
import { nodeSets } from '@slurm-operator/operator';
import { operatorUser } from '../operator-rights.ts';
import { namespace, SlurmStage } from '../slurm-stage.ts';
import { until } from '../until.ts';
import { type Account, account } from './account.ts';
import { Administrator } from './administrator.ts';
import { BlowLog } from './blow-log.ts';
import { differences, endState } from './end-state.ts';
import { operate } from './operations.ts';
import { Random } from './random.ts';
import { jobStarts, slurmctldLog } from './slurmctld-log.ts';
import { soakTable } from './soak-table.ts';
import { unlessAborted } from './unless-aborted.ts';
import { Workload } from './workload.ts';

export interface SoakOptions {
  readonly ops: number;
  readonly seed: number;
  readonly nodes: number;
  readonly name: string;
  /** Seconds that a job takes. */
  readonly shortest: number;
  readonly longest: number;
  /** Milliseconds between two operations, at most. */
  readonly pause: number;
  readonly say: (line: string) => void;
  /** Takes the stage down and rejects, wherever the soak is. What it does meanwhile fails unheard: end the process. */
  readonly signal?: AbortSignal;
}

export interface SoakResult extends Account {
  readonly ops: number;
  readonly seed: number;
  /** Of the operations: those that met every worker that may have work at work. */
  readonly busy_percent: number;
  readonly end_state_equal: boolean;
}

/** For whatever must come in the end: a loaded machine takes its time, and a deadline that is met costs nothing. */
const patience = { seconds: 900 };

/** Jobs that one worker has at a time; as many wait. */
const jobsPerWorker = 4;

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { name, nodes: count, say, signal } = options;
  await using stage = await SlurmStage.open({
    name,
    nodes: count,
    progress: say,
    ...(signal === undefined ? {} : { signal }),
  });
  return await unlessAborted(soakOn(stage, options), signal);
}

async function soakOn(stage: SlurmStage, options: SoakOptions): Promise<SoakResult> {
  const { ops, seed, say } = options;
  const random = new Random(seed);
  await stage.startSlurm();
  const spec = {
    replicas: options.nodes,
    updateStrategy: { rollingUpdate: { maxUnavailable: 1 } },
    extraConf: `CPUs=${jobsPerWorker} RealMemory=1000`,
  };
  await stage.createNodeSet('w', spec);
  await stage.untilReady('w', options.nodes, patience);
  const slurm = await stage.slurm();
  const { shortest, longest } = options;
  const load = new Workload({ slurm, random: new Random(seed + 1), shortest, longest });
  const blows = new BlowLog(stage.cluster.server, operatorUser, stage.operator.log);
  const administrator = new Administrator(stage, say);
  const outages = { kills: [] as number[], restarts: [] as number[] };
  const kinds = new Map<string, number>();
  const over = new AbortController();
  const keepBusy = async () => {
    while (!over.signal.aborted) {
      await load.topUp(options.nodes * jobsPerWorker * 2);
      await load.look();
      await administrator.goRound([...load.jobs.values()], outages.kills);
      await sleep(300, AbortSignal.timeout(60_000));
    }
  };
  const busy = keepBusy();
  // Awaited below; what it throws must not end the process before the stage is gone.
  busy.catch(() => undefined);
  try {
    await until('every worker is busy', () => load.allBusy(), patience);
    for (let op = 1; op <= ops; op += 1) {
      await load.sample();
      const { kind, what } = await operate({ stage, random, most: options.nodes, administrator, outages });
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      blows.collect();
      say(`${String(op).padStart(4)}/${ops}  ${what}`);
      await sleep(options.pause / 4 + random.below(options.pause), AbortSignal.timeout(60_000));
    }
  } finally {
    over.abort();
    await busy;
  }
  say('rest: all cordons off, full size, the last jobs end');
  await settle({ stage, load, administrator, kills: outages.kills }, options.nodes);
  const starts = jobStarts(slurmctldLog(stage.directory));
  const told = account([...load.jobs.values()], blows.all(), { ...outages, starts }, say);
  // Why each worker was deleted: without it nobody can say whether the operator was wrong, or which look misled it.
  if (told.jobs_lost + told.jobs_requeued_by_operator > 0)
    for (const line of deletions(stage.operator.log)) say(line);
  say('the same once more, from nothing');
  const equal = await equalsFreshApply(stage, spec, say);
  const { jobs_run, ...hurt } = told;
  const result = { ops, seed, jobs_run, busy_percent: load.busyPercent, ...hurt, end_state_equal: equal };
  for (const line of soakTable({ result, kinds, jobs: [...load.jobs.values()], administrator })) say(line);
  return result;
}

async function settle(
  {
    stage,
    load,
    administrator,
    kills,
  }: {
    readonly stage: SlurmStage;
    readonly load: Workload;
    readonly administrator: Administrator;
    readonly kills: readonly number[];
  },
  replicas: number,
): Promise<void> {
  stage.operator.start();
  for (const node of stage.cluster.nodes)
    await stage.client.mergePatch(nodes, { name: node.name }, { spec: { unschedulable: null } });
  await uncordonPods(stage);
  await stage.patchNodeSet('w', { replicas });
  await until(
    'the last job has ended',
    async () => {
      await load.look();
      await uncordonPods(stage);
      await administrator.goRound([...load.jobs.values()], kills);
      return load.open.length === 0;
    },
    { ...patience, seen: () => JSON.stringify(load.open.slice(0, 3)) },
  );
  await until(
    'no worker is taken for busy',
    async () => {
      await administrator.goRound([...load.jobs.values()], kills);
      return stage.isReady('w', replicas);
    },
    { ...patience, seen: () => stage.conditionsOf('w') },
  );
  await untilUndrained(stage);
}

/** What people cordoned; what the operator cordoned it takes back itself. */
async function uncordonPods(stage: SlurmStage): Promise<void> {
  for (const { metadata } of await stage.workers()) {
    const notes = metadata.annotations ?? {};
    if (notes['nodeset.slinky.slurm.net/pod-cordon'] === undefined) continue;
    if (notes['nodeset.slinky.slurm.net/pod-cordon-cause'] !== undefined) continue;
    const body = { metadata: { annotations: { 'nodeset.slinky.slurm.net/pod-cordon': null } } };
    await stage.client.mergePatch(pods, { namespace, name: metadata.name }, body).catch(() => undefined);
  }
}

async function untilUndrained(stage: SlurmStage): Promise<void> {
  const slurm = await stage.slurm();
  await until(
    'nothing stays drained',
    async () => {
      const { items } = await slurm.nodes.list();
      const notIdle = items.filter(
        ({ state }) => state.base !== 'IDLE' || state.flags.size > 1 || state.flags.has('DRAIN'),
      );
      if (notIdle.length === 0) return true;
      throw new Error(
        JSON.stringify(notIdle.map(({ name, state, reason }) => [name, state.base, ...state.flags, reason])),
      );
    },
    patience,
  );
}

/** Deletes the NodeSet and applies its last spec to the empty cluster; all objects and the Slurm nodes must come out the same. */
async function equalsFreshApply(
  stage: SlurmStage,
  spec: object,
  say: (line: string) => void,
): Promise<boolean> {
  const slurm = await stage.slurm();
  const replicas = (spec as { replicas: number }).replicas;
  await untilQuiet(stage);
  const soaked = await endState(stage.client, slurm);
  const last = (await stage.nodeSet('w'))?.spec;
  await stage.client.delete(nodeSets, { namespace, name: 'w' });
  await until('the NodeSet is gone', async () => (await stage.nodeSet('w')) === undefined, patience);
  await until(
    'its pods and records are gone',
    async () => (await stage.workers()).length === 0 && (await slurm.nodes.list()).items.length === 0,
    patience,
  );
  await stage.create(nodeSets, 'NodeSet', 'w', last as object);
  await stage.untilReady('w', replicas, patience);
  await untilUndrained(stage);
  await untilQuiet(stage);
  const found = differences(soaked, await endState(stage.client, slurm));
  for (const line of found.slice(0, 20)) say(`differs from a fresh apply: ${line}`);
  return found.length === 0;
}

/** The operator has written nothing for as long as it takes to look again at everything. */
async function untilQuiet(stage: SlurmStage): Promise<void> {
  const writes = () =>
    stage.cluster.server.audit.count(
      ({ user, verb, resource }) =>
        user === operatorUser &&
        ['create', 'update', 'patch', 'delete'].includes(verb) &&
        resource !== 'leases',
    );
  let seen = writes();
  let since = Date.now();
  await until(
    'the operator writes no more',
    () => {
      const now = writes();
      if (now !== seen) since = Date.now();
      seen = now;
      return Date.now() - since > 5_000;
    },
    patience,
  );
}

function deletions(log: string): string[] {
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines.filter((line) => line.includes('"delete-worker"')).slice(-200);
}
