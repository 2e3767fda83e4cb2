/**
 * What Slurm has to lose, asked when a configuration change depends on it. The list of all jobs is the dearest question there is,
 * so an answer counts for a while, the longer the more it cost.
 */
import { type Clock, keyOf, type ObjectKey } from '@slurm-operator/kube';
import { type NodeUpdate, Refused, SlurmError } from '@slurm-operator/slurm';
import {
  closedReason,
  type NodeClosing,
  type SlurmSurvey,
  type SlurmWork,
  workOf,
} from '../slurm-config/guard/slurm-work.ts';
import { classify } from './failure.ts';
import type { ConnectionPool } from './pool.ts';
import type { SlurmConnection } from './slurm-connection.ts';

/** Slurm's error ESLURM_INVALID_NODE_STATE. */
const invalidNodeState = 2028;

interface Answer<T> {
  readonly at: number;
  readonly validMs: number;
  readonly value: T;
}

/** An answer counts for this many times as long as it took, within these bounds. */
const validity = { factor: 10, leastMs: 1_000, mostMs: 30_000 };

/** Nodes that are drained at the same time. */
const atOnce = 8;

export class WorkSurvey implements SlurmSurvey {
  readonly #connectionOf: (key: ObjectKey) => SlurmConnection | undefined;
  readonly #lastPartitionsOf: (key: ObjectKey) => ReadonlySet<string> | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #work = new Map<ObjectKey, Answer<SlurmWork>>();
  readonly #partitions = new Map<ObjectKey, Answer<ReadonlySet<string> | undefined>>();

  constructor(pool: Pick<ConnectionPool, 'get' | 'lastPartitions'>, clock: Pick<Clock, 'now'>) {
    this.#connectionOf = (key) => pool.get(key);
    this.#lastPartitionsOf = (key) => pool.lastPartitions(key);
    this.#clock = clock;
  }

  work(
    namespace: string,
    controller: string,
    signal: AbortSignal,
    { fresh = false }: { readonly fresh?: boolean } = {},
  ): Promise<SlurmWork> {
    if (fresh) this.forget(namespace, controller);
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

  lastPartitions(namespace: string, controller: string): ReadonlySet<string> | undefined {
    return this.#lastPartitionsOf(keyOf({ namespace, name: controller }));
  }

  hasClosedNodes(namespace: string, controller: string): boolean {
    const view = this.#connectionOf(keyOf({ namespace, name: controller }))?.gateway.view();
    return view?.kind === 'known' && view.nodes.some(({ reason }) => reason === closedReason);
  }

  async setNodes(
    namespace: string,
    controller: string,
    { close, reopen }: NodeClosing,
    signal: AbortSignal,
  ): Promise<void> {
    const gateway = this.#connectionOf(keyOf({ namespace, name: controller }))?.gateway;
    if (gateway === undefined) return;
    const drain: NodeUpdate = { state: 'DRAIN', reason: closedReason };
    const updates = [
      ...close.map((node) => () => gateway.updateNode(node, drain, signal)),
      ...reopen.map((node) => () => reopenNode(gateway, node, signal)),
    ];
    try {
      for (let from = 0; from < updates.length; from += atOnce)
        await Promise.all(updates.slice(from, from + atOnce).map((update) => update()));
    } finally {
      this.forget(namespace, controller);
    }
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
      return failed('see the condition SlurmConnected of the Controller.');
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

/** 24.11 refuses it for a node that has not registered since slurmctld started; it stays closed, and is opened when it has. */
async function reopenNode(
  gateway: SlurmConnection['gateway'],
  node: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await gateway.updateNode(node, { state: 'UNDRAIN' }, signal);
  } catch (error) {
    if (!(error instanceof Refused) || error.number !== invalidNodeState) throw error;
  }
}

/** Half a million jobs of 8 KB: a cluster of that size must not be held back for good because its list is long. */
const longestList = { maxAnswerBytes: 4 * 2 ** 30, timeoutMs: 300_000 };

const unknown = (why: string): SlurmWork => ({ kind: 'unknown', why });

/**
 * Partitions and nodes first: a job that was accepted before its partition was closed, or started before its node was drained, is then in
 * the list of jobs.
 */
async function askWork({ client, gateway }: SlurmConnection, signal: AbortSignal): Promise<SlurmWork> {
  const partitions = await client.partitions.list({ signal });
  const nodes = await gateway.freshView(signal);
  if (nodes.kind === 'unknown') return unknown(nodes.why);
  const jobs = await client.jobs.list({ signal, ...longestList });
  return workOf({ partitions: partitions.items, nodes: nodes.nodes, jobs: jobs.items });
}
