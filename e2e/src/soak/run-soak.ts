/** Random operations on a cluster whose workers all have jobs; then rest, and the account of what was lost and by whose hand. */

import { readFileSync } from 'node:fs';
import { nodes, sleep } from '@slurm-operator/kube';
import { Random } from '@slurm-operator/slurm/testing';
import { operatorUser } from '../operator-rights.ts';
import { namespace, SlurmStage } from '../slurm-stage.ts';
import { until } from '../until.ts';
import { type Account, account } from './account.ts';
import { Administrator } from './administrator.ts';
import { allJobs } from './all-jobs.ts';
import { beside } from './beside.ts';
import { BlowLog } from './blow-log.ts';
import { CutSruns } from './cut-sruns.ts';
import { equalsFreshInstall } from './fresh-install.ts';
import { JobRecords } from './job-record.ts';
import { Neighbours } from './neighbours.ts';
import { firstSpec, jobsPerWorker, machineLabel, most } from './operations/node-sets.ts';
import { slurmCommand } from './operations/operation.ts';
import { adhocPartition } from './operations/restarts.ts';
import { lastingSets } from './operations/set-names.ts';
import { Turns } from './operations/turns.ts';
import { draw, type FirstOperations, operate } from './operations.ts';
import { PeoplesOrders } from './peoples-orders.ts';
import { patience, settle } from './settle.ts';
import {
  cancelRequests,
  jobEnds,
  jobLaunches,
  jobStarts,
  numbersGivenTwice,
  pairsPutBack,
  refusedJobs,
  slurmctldEndings,
  slurmctldLog,
  slurmdLog,
} from './slurmctld-log.ts';
import { soakConf } from './soak-conf.ts';
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
  /** Milliseconds between two operations of one lane, at most. */
  readonly pause: number;
  /** Operations at a time, where they need nothing in common. @default 3 */
  readonly lanes?: number;
  /** What is done before operations are drawn by chance. @default nothing */
  readonly first?: FirstOperations;
  /** Kinds of which every other operation is. @default none */
  readonly aim?: readonly string[];
  /** No operation begins later than this after the first one. @default without end */
  readonly minutes?: number;
  /** Ends with the first job that is lost, or the first thing of others that is touched. @default false */
  readonly stopAtLoss?: boolean;
  /** The manager of another copy of the sources. */
  readonly program?: string | undefined;
  readonly say: (line: string) => void;
  /** Takes the stage down and rejects, wherever the soak is. What it does meanwhile fails unheard: end the process. */
  readonly signal?: AbortSignal;
}

export interface SoakResult extends Account {
  /** Operations that were made. */
  readonly ops: number;
  readonly seed: number;
  /** Operations during which every worker that may run jobs was busy. */
  readonly busy_percent: number;
  readonly end_state_equal: boolean;
  /** What belongs to others and was touched, in words. */
  readonly foreign_touched: readonly string[];
  readonly seconds_per_operation: number;
  readonly operations: Readonly<Record<string, number>>;
}

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { name, nodes: count, say, signal } = options;
  await using stage = await SlurmStage.open({
    name,
    nodes: count,
    progress: say,
    program: options.program,
    ...(signal === undefined ? {} : { signal }),
  });
  return await unlessAborted(new Soak(stage, options).run(), signal);
}

/** Jobs that wait and run at a time. */
const wantedJobs = (most.a + most.b + most.d + 1) * jobsPerWorker * 2;

/** So many operations before the end nothing long is submitted any more. */
const windDownOperations = 35;
const tallyEvery = 25;

class Soak {
  readonly #stage: SlurmStage;
  readonly #options: SoakOptions;
  readonly #orders = new PeoplesOrders();
  readonly #outages = { kills: [] as number[], restarts: [] as number[] };
  readonly #administrator: Administrator;
  readonly #neighbours: Neighbours;
  readonly #blows: BlowLog;
  readonly #records: JobRecords;
  readonly #cutSruns: CutSruns;
  readonly #kinds = new Map<string, number>();
  /** Where the time of operations went: kind → milliseconds. */
  readonly #spent = new Map<string, number>();
  readonly #turns = new Turns();

  constructor(stage: SlurmStage, options: SoakOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#administrator = new Administrator(stage, options.say, this.#orders);
    this.#neighbours = new Neighbours(stage);
    this.#records = new JobRecords(stage.directory);
    this.#cutSruns = new CutSruns(stage.directory);
    this.#blows = new BlowLog(stage.cluster.server, operatorUser, stage.operator.log);
  }

  async run(): Promise<SoakResult> {
    const { ops, seed, say } = this.#options;
    const load = await this.#begin();
    const over = new AbortController();
    const busy = this.#keepBusy(load, over.signal);
    // Awaited below; what it throws must not end the process before the stage is gone.
    busy.catch(() => undefined);
    let begun = 0;
    let made = 0;
    let stopped = false;
    const began = Date.now();
    const deadline = began + (this.#options.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
    try {
      await until('every worker is busy', () => load.allBusy(), patience);
      const lane = async () => {
        while (begun < ops && !stopped && Date.now() < deadline) {
          begun += 1;
          if (ops - begun < windDownOperations) load.windDown();
          await this.#step(begun, load).catch((error: unknown) => {
            // The others end after their operation, so that none is under way when the stage goes.
            stopped = true;
            throw error;
          });
          made += 1;
          if (this.#options.stopAtLoss === true) stopped ||= this.#somethingIsLost(load);
          else if (made % tallyEvery === 0) this.#tally(load);
        }
      };
      const lanes = Array.from({ length: this.#options.lanes ?? 3 }, lane);
      for (const ended of await Promise.allSettled(lanes))
        if (ended.status === 'rejected') throw ended.reason;
    } finally {
      over.abort();
      await busy;
    }
    const perOperation = (Date.now() - began) / 1000 / Math.max(1, made);
    if (!stopped) {
      say('rest: all cordons off, every NodeSet there, the last jobs end');
      await settle({
        stage: this.#stage,
        load,
        administrator: this.#administrator,
        kills: this.#outages.kills,
      });
    }
    const told = this.#account(load, say);
    if (told.jobs_lost + told.jobs_requeued_by_operator > 0)
      for (const line of deletions(this.#stage.operator.log)) say(line);
    const equal = stopped ? false : await equalsFreshInstall(this.#stage, say);
    const { jobs_run, ...hurt } = told;
    const result = {
      ops: made,
      seed,
      jobs_run,
      busy_percent: load.busyPercent,
      ...hurt,
      end_state_equal: equal,
      foreign_touched: this.#neighbours.touched,
      seconds_per_operation: Number(perOperation.toFixed(2)),
      operations: Object.fromEntries([...this.#kinds].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    };
    for (const line of soakTable({
      result,
      kinds: this.#kinds,
      spent: this.#spent,
      jobs: [...load.jobs.values()],
      administrator: this.#administrator,
    }))
      say(line);
    return result;
  }

  /** Slurm, the first NodeSets, workers of others, and the workload. */
  async #begin(): Promise<Workload> {
    const { seed, shortest, longest } = this.#options;
    const stage = this.#stage;
    await stage.startSlurm({ extraConf: soakConf.join('\n'), ...(await stage.sharedState()) });
    await grantLeases(stage);
    await beside(stage);
    const name = stage.cluster.nodes.at(-1)?.name ?? '';
    await stage.client.mergePatch(nodes, { name }, { metadata: { labels: { [machineLabel]: 'd' } } });
    for (const set of lastingSets) await stage.createNodeSet(set, firstSpec(set));
    for (const set of lastingSets) await stage.untilReady(set, most[set], patience);
    await this.#neighbours.join(patience);
    return new Workload({
      slurm: () => stage.slurm(),
      random: new Random(seed + 1),
      shortest,
      longest,
      leftAlone: adhocPartition,
      submitPair: async (seconds) => {
        const line = [
          'sbatch',
          '--parsable',
          '-D/tmp',
          '-o/dev/null',
          '-n1',
          '-t20',
          ':',
          '-n1',
          '-t20',
          '--wrap',
          `sleep ${seconds}`,
        ];
        const id = Number.parseInt((await slurmCommand(stage, ...line)) ?? '', 10);
        return Number.isNaN(id) ? undefined : id;
      },
      resume: (id) => slurmCommand(stage, 'scontrol', 'resume', String(id)),
    });
  }

  async #keepBusy(load: Workload, over: AbortSignal): Promise<void> {
    const again = async (work: () => Promise<void>) => {
      while (!over.aborted) {
        await work();
        await sleep(300, AbortSignal.timeout(60_000));
      }
    };
    await Promise.all([
      again(async () => {
        await load.topUp(wantedJobs);
        await load.look();
        this.#records.collect();
      }),
      // Beside it: a person who moves many jobs must not keep workers without work.
      again(async () => {
        await this.#administrator.goRound([...load.jobs.values()], this.#outages.kills);
        await this.#neighbours.look();
      }),
    ]);
  }

  async #step(n: number, load: Workload): Promise<void> {
    const { ops, seed, say, first, aim, pause } = this.#options;
    const drawn = draw(seed, n, first, aim);
    const { kind } = drawn.operation;
    // While Slurm does not answer operations go on.
    await Promise.race([load.sample(), sleep(1_000, AbortSignal.timeout(60_000))]);
    const began = Date.now();
    const what = await operate(drawn, {
      stage: this.#stage,
      turns: this.#turns,
      random: drawn.random,
      administrator: this.#administrator,
      load,
      neighbours: this.#neighbours,
      orders: this.#orders,
      outages: this.#outages,
    });
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    this.#spent.set(kind, (this.#spent.get(kind) ?? 0) + Date.now() - began);
    this.#blows.collect();
    this.#cutSruns.collect();
    say(`${String(n).padStart(4)}/${ops}  ${what}`);
    await sleep(pause / 4 + drawn.random.below(pause), AbortSignal.timeout(60_000));
  }

  /** A long run says early what it has found. */
  #tally(load: Workload): void {
    const lost: string[] = [];
    const note = (line: string) => void (/by an unknown cause|by the operator/.test(line) && lost.push(line));
    const { jobs_run, jobs_lost, jobs_requeued_by_operator } = this.#account(load, note);
    const touched = this.#neighbours.touched.length;
    for (const line of lost) this.#options.say(`           ${line}`);
    this.#options.say(
      `so far: ${jobs_run} jobs, ${jobs_lost} lost, ${jobs_requeued_by_operator} requeued by the operator, ${touched} of others touched`,
    );
  }

  #somethingIsLost(load: Workload): boolean {
    const { jobs_lost, jobs_requeued_by_operator } = this.#account(load, () => undefined);
    return jobs_lost + jobs_requeued_by_operator + this.#neighbours.touched.length > 0;
  }

  /** Jobs that are over, by what was seen and by Slurm's own account; without those that still run or wait. */
  #account(load: Workload, say: (line: string) => void): Account {
    const { directory } = this.#stage;
    const ended = allJobs([...load.jobs.values()], this.#records.all()).filter(
      ({ end }) => end !== undefined,
    );
    const log = slurmctldLog(directory);
    const workers = slurmdLog(directory);
    const story = {
      ...this.#outages,
      starts: jobStarts(`${log}\n${workers}`),
      launches: jobLaunches(workers),
      endings: slurmctldEndings(log),
      cutSruns: this.#cutSruns.jobs,
      ends: jobEnds(log),
      putBack: pairsPutBack(log),
      refused: refusedJobs(log),
      cancels: cancelRequests(log),
      givenTwice: numbersGivenTwice(log),
    };
    return account(ended, this.#blows.all(), story, say, this.#orders);
  }
}

/** Why each worker was deleted: needed to tell whether the operator was wrong, and which observation misled it. */
function deletions(log: string): string[] {
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines.filter((line) => line.includes('"delete-worker"')).slice(-200);
}

/** For replicas that compete: an installation grants it in the namespace of the operator, which is not there on a stage. */
async function grantLeases({ client }: SlurmStage): Promise<void> {
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const metadata = { name: 'soak-leases', namespace };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch'];
  const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs }];
  await client.json('POST', `${path}/roles`, { body: { apiVersion, kind: 'Role', metadata, rules } });
  const apiGroup = 'rbac.authorization.k8s.io';
  const body = {
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup, kind: 'Role', name: metadata.name },
    subjects: [{ apiGroup, kind: 'User', name: operatorUser }],
  };
  await client.json('POST', `${path}/rolebindings`, { body });
}
