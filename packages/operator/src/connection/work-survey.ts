/**
 * What Slurm has to lose, asked when a configuration change depends on it. The list of all jobs is the dearest question there is,
 * so an answer counts for a while, the longer the more it cost.
 */
import { type Clock, keyOf, type ObjectKey } from '@slurm-operator/kube';
import { SlurmError } from '@slurm-operator/slurm';
import { acceptsJobs, type SlurmSurvey, type SlurmWork, workJobs } from '../config-guard/slurm-work.ts';
import { classify } from './failure.ts';
import type { SlurmConnection } from './slurm-connection.ts';

interface Answer<T> {
  readonly at: number;
  readonly validMs: number;
  readonly value: T;
}

/** An answer counts for this many times as long as it took, within these bounds. */
const validity = { factor: 10, leastMs: 1_000, mostMs: 30_000 };

export class WorkSurvey implements SlurmSurvey {
  readonly #connectionOf: (key: ObjectKey) => SlurmConnection | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #work = new Map<ObjectKey, Answer<SlurmWork>>();
  readonly #partitions = new Map<ObjectKey, Answer<ReadonlySet<string> | undefined>>();

  constructor(connectionOf: (key: ObjectKey) => SlurmConnection | undefined, clock: Pick<Clock, 'now'>) {
    this.#connectionOf = connectionOf;
    this.#clock = clock;
  }

  work(namespace: string, controller: string, signal: AbortSignal): Promise<SlurmWork> {
    return this.#ask(this.#work, namespace, controller, (connection) => askWork(connection, signal), unknown);
  }

  /** Undefined where Slurm does not say. */
  partitions(
    namespace: string,
    controller: string,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string> | undefined> {
    const ask = async ({ client }: SlurmConnection) =>
      new Set((await client.partitions.list({ signal })).items.map(({ name }) => name));
    return this.#ask(this.#partitions, namespace, controller, ask, () => undefined);
  }

  forget(namespace: string, controller: string): void {
    const key = keyOf({ namespace, name: controller });
    this.#work.delete(key);
    this.#partitions.delete(key);
  }

  async #ask<T>(
    answers: Map<ObjectKey, Answer<T>>,
    namespace: string,
    controller: string,
    ask: (connection: SlurmConnection) => Promise<T>,
    failed: (why: string) => T,
  ): Promise<T> {
    const key = keyOf({ namespace, name: controller });
    const known = answers.get(key);
    const now = this.#clock.now();
    if (known !== undefined && now - known.at < known.validMs) return known.value;
    const connection = this.#connectionOf(key);
    // A slurmctld that is down lets every question wait for ten seconds.
    if (connection === undefined || connection.gateway.view().kind === 'unknown')
      return failed('the condition SlurmConnected of the Controller says why.');
    let value: T;
    try {
      value = await ask(connection);
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
      value = failed(classify(error, connection.client.server).message);
    }
    const tookMs = this.#clock.now() - now;
    const validMs = Math.min(validity.mostMs, Math.max(validity.leastMs, validity.factor * tookMs));
    answers.set(key, { at: now, validMs, value });
    return value;
  }
}

const unknown = (why: string): SlurmWork => ({ kind: 'unknown', why });

/** Partitions first: a job that was accepted before its partition was closed is then in the list of jobs. */
async function askWork({ client, gateway }: SlurmConnection, signal: AbortSignal): Promise<SlurmWork> {
  const partitions = await client.partitions.list({ signal });
  const jobs = await client.jobs.list({ signal });
  const nodes = await gateway.freshView(signal);
  if (nodes.kind === 'unknown') return unknown(nodes.why);
  return {
    kind: 'known',
    jobs: workJobs(jobs.items),
    partitions: new Map(partitions.items.map((partition) => [partition.name, acceptsJobs(partition)])),
    nodeCount: nodes.nodes.length,
    jobCount: jobs.items.length,
  };
}
