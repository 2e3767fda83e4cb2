/**
 * Objects beside the NodeSets that belong to others: a worker whose name and feature look like ours. Whatever the
 * operator does to it is noted, and so is a reservation of ours that no NodeSet asks for any more.
 */
import { reasonPrefix } from '@slurm-operator/api';
import { draftOf, KubeError, pods } from '@slurm-operator/kube';
import type { UntilOptions } from '@slurm-operator/kube/testing';
import { nodeSets } from '@slurm-operator/operator';
import { SlurmError } from '@slurm-operator/slurm';
import { namespace, type SlurmStage } from '../slurm-stage.ts';
import { until } from '../until.ts';

/** As a worker of NodeSet a would be called. */
const foreignWorker = 'a-40';
export const isForeign = (node: string): boolean => node === foreignWorker;

const ownReservations = 'SlurmOperatorMaint-';
/** So long may a reservation stay after its NodeSet stopped asking for it: of the time in which Slurm answers, because without it nothing is deleted. */
const leaked = 45_000;
/** A longer pause between two looks was an outage. */
const longestLook = 2_000;

export class Neighbours {
  readonly #stage: SlurmStage;
  readonly #touched = new Set<string>();
  /** How long it has been there without being wanted. */
  readonly #unwanted = new Map<string, number>();
  #lastLook = 0;
  #refreshedAt = 0;

  constructor(stage: SlurmStage) {
    this.#stage = stage;
  }

  get touched(): readonly string[] {
    return [...this.#touched];
  }

  /** Something else that the operator must not do. */
  note(line: string): void {
    this.#touched.add(line);
  }

  /** A copy of a worker that no NodeSet owns: the same slurmd under another name. */
  async join(patience: UntilOptions): Promise<void> {
    const like = (await this.#stage.workers()).find(({ metadata }) => metadata.name === 'a-0');
    const { nodeName: _, ...spec } = (like?.spec ?? {}) as {
      nodeName?: string;
      containers?: readonly { args?: readonly string[] }[];
    };
    const containers = spec.containers?.map((one) => ({ ...one, args: withoutIdentity(one.args ?? []) }));
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: foreignWorker, namespace, labels: { 'app.kubernetes.io/name': 'foreign' } },
      spec: { ...spec, containers, hostname: foreignWorker },
    };
    await this.#stage.client.create(pods, draftOf(pods, pod));
    const slurm = await this.#stage.slurm();
    await until(
      'the worker of others has joined',
      async () => (await slurm.nodes.list()).items.some(({ name }) => name === foreignWorker),
      patience,
    );
  }

  /**
   * As the operator does for its own workers: an annotation makes the kubelet write changed Secrets at once, not within a minute. Others must
   * follow the steps of a change of slurm.key, which take some seconds each.
   */
  async #refreshFiles(): Promise<void> {
    if (Date.now() - this.#refreshedAt < 3_000) return;
    this.#refreshedAt = Date.now();
    const annotations = { 'soak.example/refreshed': new Date().toISOString() };
    await this.#stage.client.mergePatch(
      pods,
      { namespace, name: foreignWorker },
      { metadata: { annotations } },
    );
  }

  /** One look. While Slurm does not answer nothing can be said. */
  async look(): Promise<void> {
    try {
      await this.#refreshFiles();
      const slurm = await this.#stage.slurm();
      const { items } = await slurm.nodes.list();
      const node = items.find(({ name }) => isForeign(name));
      // A kill -9 of slurmctld may cost a record; an operator's delete drains first.
      if (node?.state.flags.has('DRAIN') === true && node.reason.startsWith(reasonPrefix))
        this.#touched.add(`${foreignWorker} was drained: ${node.reason}`);
      if (node?.comment.includes('nodeSetName') === true)
        this.#touched.add(`${foreignWorker} got a comment: ${node.comment}`);
      await this.#lookAtReservations();
    } catch (error) {
      if (!(error instanceof SlurmError) && !(error instanceof KubeError)) throw error;
    }
  }

  async #lookAtReservations(): Promise<void> {
    const slurm = await this.#stage.slurm();
    const sets = (await this.#stage.client.list(nodeSets, { namespace })).items;
    const wanted = new Set(
      sets
        .filter(({ spec }) => spec.updateStrategy.type === 'ScheduledUpdate')
        .map(({ metadata }) => `${ownReservations}${metadata.name}`),
    );
    const { items } = await slurm.reservations.list();
    const now = Date.now();
    const unwanted = items
      .map(({ name }) => name)
      .filter((name) => name.startsWith(ownReservations) && !wanted.has(name));
    for (const name of this.#unwanted.keys()) if (!unwanted.includes(name)) this.#unwanted.delete(name);
    for (const name of unwanted) {
      const there = (this.#unwanted.get(name) ?? 0) + Math.min(longestLook, now - this.#lastLook);
      this.#unwanted.set(name, there);
      if (there > leaked) this.#touched.add(`reservation ${name} stays, though nothing asks for it`);
    }
    this.#lastLook = now;
  }
}

/** Without what tells Slurm whose worker it is. */
function withoutIdentity(args: readonly string[]): string[] {
  return args.filter((arg, at) => !arg.startsWith('--instance-') && !args[at - 1]?.startsWith('--instance-'));
}
