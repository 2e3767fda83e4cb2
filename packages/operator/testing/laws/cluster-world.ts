/** A whole cluster in memory: Kubernetes, Slurm, machines, people, and the product's own reconcilers between them. */
import { isDeepStrictEqual } from 'node:util';
import { annotation, app, label, type NodeSet, reasonPrefix } from '@slurm-operator/api';
import type { Clock } from '@slurm-operator/kube';
import { slurmSetName } from '../../src/slurm-config/render/slurmd-conf.ts';
import { LawBroken } from '../check-laws.ts';
import { aController, aNodeSet } from '../objects.ts';
import { Machines } from './machines.ts';
import { MemoryKube, type StoredObject } from './memory-kube.ts';
import type { Json } from './merge.ts';
import { ModelConnection, type SlurmWrite } from './model-connection.ts';
import { ModelOperator } from './model-operator.ts';
import { type ModelNode, ModelSlurm } from './model-slurm.ts';
import { Slurmctld } from './slurmctld.ts';

export const namespace = 'hpc';
export const controllerName = 'slurm';

/** The operator of this life writes no more. */
class OperatorDead extends Error {}

export class ClusterWorld {
  now = Date.parse('2026-01-01T00:00:00Z');
  readonly kube = new MemoryKube(() => this.now);
  readonly slurm = new ModelSlurm();
  readonly machines = new Machines(this.kube, this.slurm);
  readonly slurmctld = new Slurmctld(this.kube, this.slurm);
  slurmReachable = true;
  /** The first law that was broken: what happens inside a reconcile cannot be thrown through it. */
  broken: LawBroken | undefined;
  /** Writes of operators, to Kubernetes and to Slurm. */
  writes = 0;
  /** Uids of NodeSets that went with their Controller: no Slurm could be asked to delete their records. */
  readonly uninstalled = new Set<string>();
  connection!: ModelConnection;
  #operator!: ModelOperator;
  /** The uid of the NodeSet that is being reconciled. */
  #actor: string | undefined;
  /** Partitions whose jobs a user allowed to be lost. */
  readonly #released = new Set<string>();
  #writesLeft = Number.POSITIVE_INFINITY;
  #template: { readonly template: object; readonly cause: string } | undefined;
  /** Secrets that are away. */
  readonly #away = new Map<string, StoredObject>();

  constructor(machines: number, controller: object = {}) {
    for (const name of ['slurm-auth', 'slurm-jwt'])
      this.kube.create('secrets', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace },
        data: { 'slurm.key': 'c2VjcmV0', 'jwt.key': 'c2VjcmV0' },
      });
    for (let i = 0; i < machines; i += 1) this.machines.add(`machine-${i}`, this.now);
    this.kube.create(
      'controllers',
      fresh(aController({ extraConf: 'PartitionName=all Nodes=ALL Default=YES State=UP', ...controller })),
    );
    this.slurm.onLoss = ({ id, state, partitions }, why) => {
      if (!partitions.some((partition) => this.#released.has(partition)))
        this.breaks(`L12: job ${id} ended as ${state}: ${why}`);
    };
    this.kube.onPodDeleted = (pod, by) => this.#checkPodDeletion(pod, by);
    this.restartOperator();
  }

  breaks(what: string): void {
    this.broken ??= new LawBroken(what);
  }

  tick = (): number => (this.now += 1);

  /** Kills the operator, and starts another one that knows nothing. */
  restartOperator(): void {
    this.#writesLeft = Number.POSITIVE_INFINITY;
    const spend = () => {
      if (this.#writesLeft <= 0) throw new OperatorDead('this operator is dead');
      this.#writesLeft -= 1;
      this.writes += 1;
      this.tick();
    };
    const clock: Clock = {
      now: () => this.now,
      monotonic: () => this.now,
      after: () => () => undefined,
      random: () => 0.5,
    };
    this.connection = new ModelConnection({
      slurm: this.slurm,
      now: () => this.now,
      tick: this.tick,
      reachable: () => this.slurmReachable && this.slurmctld.answers,
      writing: (write) => {
        spend();
        this.#checkSlurmWrite(write);
      },
    });
    this.#operator = new ModelOperator({ kube: this.kube, connection: this.connection, clock, spend });
  }

  nodeSets(): (NodeSet & StoredObject)[] {
    return this.kube
      .list<NodeSet & StoredObject>('nodesets')
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  get controller(): StoredObject | undefined {
    return this.kube.get('controllers', namespace, controllerName);
  }

  createNodeSet(name: string, spec: object): void {
    if (this.kube.get('nodesets', namespace, name) !== undefined) return;
    this.kube.create('nodesets', fresh(aNodeSet(spec, { name })));
  }

  /** A user deletes it; with policy Delete the jobs in its partition may be lost. */
  deleteNodeSet(set: NodeSet & StoredObject): void {
    if (set.spec.deletionPolicy === 'Delete') this.#released.add(slurmSetName(set));
    this.kube.delete('nodesets', set, 'person');
  }

  patch(plural: string, object: StoredObject, patch: (object: StoredObject) => Json): void {
    this.kube.change(plural, object, patch);
  }

  /** One reconcile of the Controller, or of a NodeSet; with `writes`, the operator crashes after that many. */
  async operate(
    target: { readonly controller: true } | { readonly nodeSet: string },
    writes?: number,
  ): Promise<void> {
    this.#operator.catchUp();
    this.#writesLeft = writes ?? Number.POSITIVE_INFINITY;
    if ('controller' in target) {
      await this.#operator.reconcile('controller', namespace, controllerName);
      this.#checkTemplate();
      if (this.slurmctld.isChanging) this.kubeWorks();
    } else {
      this.#actor = this.kube.get('nodesets', namespace, target.nodeSet)?.metadata.uid;
      await this.#operator.reconcile('nodeset', namespace, target.nodeSet);
      this.#actor = undefined;
    }
    if (this.#writesLeft <= 0) this.restartOperator();
  }

  /** Kubernetes, the kubelets and slurmctld do what they can. */
  kubeWorks(): void {
    this.tick();
    this.slurmctld.work(this.now, (what) => this.breaks(what));
    this.machines.work(this.now);
  }

  slurmWorks(): void {
    this.tick();
    if (!this.slurmctld.answers) return;
    this.slurm.work(this.machines.register(), this.now);
  }

  /** A Secret is deleted, and created again later with what it held: a restore, or a tool that replaces it. */
  loseSecret(name: string): void {
    const secret = this.kube.get('secrets', namespace, name);
    if (secret === undefined) return;
    this.#away.set(name, secret);
    this.kube.remove('secrets', secret);
  }

  restoreSecrets(): void {
    for (const [name, { data }] of this.#away)
      this.kube.create('secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data });
    this.#away.clear();
  }

  changeKey(value: number): void {
    const secret = this.kube.get('secrets', namespace, 'slurm-auth');
    const data = { 'slurm.key': Buffer.from(`key ${value}`).toString('base64') };
    if (secret !== undefined) this.patch('secrets', secret, (live) => ({ ...live, data }));
  }

  /** L14: only a change of the specification or of a key may change the pods of slurmctld. */
  #checkTemplate(): void {
    const set = this.kube.list('statefulsets')[0];
    const keys = [...this.kube.list('secrets'), ...this.#away.values()].map(({ data }) =>
      JSON.stringify(data),
    );
    const { uid, generation } = this.controller?.metadata ?? {};
    const cause = JSON.stringify([uid, generation, keys.toSorted()]);
    const { template } = (set?.['spec'] ?? {}) as { template?: object };
    const before = this.#template;
    if (template === undefined || before?.template === template) return;
    if (before?.cause === cause && !isDeepStrictEqual(before.template, template))
      this.breaks('L14: the pods of slurmctld change although the specification did not');
    this.#template = { template, cause };
  }

  #checkPodDeletion(pod: StoredObject, by: string): void {
    const hostname = (pod['spec'] as { hostname?: string }).hostname ?? '';
    const jobs = this.slurm
      .on(hostname)
      .filter(() => this.slurm.nodes.get(hostname)?.instanceId === pod.metadata.uid);
    if (jobs.length === 0 || by === 'person' || this.machines.isDead(pod)) return;
    const owner = pod.metadata.ownerReferences?.find(({ kind }) => kind === 'NodeSet');
    const set = this.nodeSets().find(({ metadata }) => metadata.uid === owner?.uid);
    const asked =
      set?.metadata.deletionTimestamp !== undefined &&
      (set.spec.deletionPolicy === 'Delete' || this.controller === undefined);
    if (!asked) this.breaks(`L1: the ${by} deletes ${pod.metadata.name} while job ${jobs[0]?.id} is on it`);
  }

  /** A restart of slurmctld ends a pending job whose node is gone; a feature that is gone puts it on hold for good. */
  #checkRecordDeletion({ name, owner, features }: ModelNode): void {
    const set = this.nodeSets().find(({ metadata }) => metadata.uid === owner);
    const isDeleting = set?.metadata.deletionTimestamp !== undefined;
    const others = [...this.slurm.nodes.values()].filter((node) => node.name !== name);
    for (const job of this.slurm.open()) {
      const { node, feature = '' } = job.wants;
      if (job.state !== 'PENDING' || (isDeleting && set?.spec.deletionPolicy !== 'Drain')) continue;
      if (node === name) this.breaks(`L12: record ${name} is deleted, and pending job ${job.id} asks for it`);
      const isLast = features.includes(feature) && !others.some((other) => other.features.includes(feature));
      if (isLast && !isDeleting)
        this.breaks(
          `L12: record ${name}, the last with feature ${feature} of pending job ${job.id}, is deleted`,
        );
    }
  }

  #checkSlurmWrite(write: SlurmWrite): void {
    if (write.kind === 'reserve' || write.kind === 'unreserve') return;
    const node = this.slurm.nodes.get(write.node);
    if (node === undefined) return;
    const foreign = node.owner !== this.#actor && this.machines.lives(node.instanceId);
    if (foreign)
      this.breaks(
        `L15: ${write.kind} ${JSON.stringify(write.kind === 'update' ? write.update : '')} of ${write.node}, which belongs to ${node.owner}`,
      );
    if (write.kind === 'delete') this.#checkRecordDeletion(node);
    const { state } = write.kind === 'update' ? write.update : {};
    // A drain that came after the list cannot be known to the operator.
    const shown = this.connection.shown(write.node);
    const theirs =
      node.drained &&
      shown?.state.flags.has('DRAIN') &&
      shown.reason === node.reason &&
      !node.reason.startsWith(reasonPrefix);
    if (theirs && (state === 'DRAIN' || state === 'UNDRAIN'))
      this.breaks(`L2: ${state} of ${write.node}, which a person drained: ${node.reason}`);
    if (state === 'DOWN' && this.machines.lives(node.instanceId))
      this.breaks(`L11: ${write.node} set DOWN though its slurmd lives`);
  }
}

/** As a user writes it: the API server adds the rest. */
function fresh({ metadata, ...object }: { metadata: { name: string } }): Json {
  return { ...object, metadata: { name: metadata.name, namespace } };
}

/** Labels by which a worker pod is known. */
export const isWorker = (pod: StoredObject): boolean => pod.metadata.labels?.[label.name] === app.worker;
export const cordonAnnotation = annotation.podCordon;
