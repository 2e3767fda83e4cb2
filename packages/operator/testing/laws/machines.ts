/** Machines, their kubelets and the slurmd on them: pods that start, run, fail and end, whether Kubernetes hears of it or not. */
import { app, label } from '@slurm-operator/api';
import { targetNodeAnnotation } from '../../src/kinds/nodeset/annotations.ts';
import type { MemoryKube, StoredObject } from './memory-kube.ts';
import type { ModelSlurm, Slurmd } from './model-slurm.ts';

interface PodSpec {
  readonly nodeName?: string;
  readonly hostname?: string;
  readonly containers?: readonly { readonly name: string; readonly args?: readonly string[] }[];
}

const stamp = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

export class Machines {
  readonly #kube: MemoryKube;
  readonly #slurm: ModelSlurm;
  readonly lost = new Set<string>();
  /** False: no image can be pulled. */
  imageComes = true;
  /** Living slurmd by the uid of their pod, and whether each has registered since it started. */
  readonly #slurmds = new Map<string, Slurmd & { registered: boolean; machine: string }>();
  #addresses = 0;

  constructor(kube: MemoryKube, slurm: ModelSlurm) {
    this.#kube = kube;
    this.#slurm = slurm;
  }

  add(name: string, now: number): void {
    const lastTransitionTime = stamp(now - 3_600_000);
    this.#kube.create('nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: {},
      status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] },
    });
  }

  get names(): string[] {
    return this.#kube.list('nodes').map(({ metadata }) => metadata.name);
  }

  /** A worker that lives outside Kubernetes, with any name and features. */
  addExternal(name: string, features: readonly string[], now: number): void {
    const instanceId = `external-${name}`;
    if (this.#slurm.nodes.has(name) || this.#slurmds.has(instanceId)) return;
    const slurmd = {
      name,
      features,
      instanceId,
      instanceType: '',
      address: `external-${name}`,
      startedAt: now,
    };
    this.#slurmds.set(instanceId, { ...slurmd, owner: 'external', registered: false, machine: '' });
  }

  removeExternal(name: string): void {
    if (!this.#slurmds.delete(`external-${name}`)) return;
    this.#slurm.slurmdEnded(name, 'its machine was removed', true);
    this.#slurm.nodes.delete(name);
  }

  lose(machine: string, now: number): void {
    this.lost.add(machine);
    this.#report(machine, 'Unknown', now);
  }

  restore(machine: string, now: number): void {
    if (this.lost.delete(machine)) this.#report(machine, 'True', now);
  }

  cordon(machine: string, unschedulable: boolean): void {
    const node = this.#kube.list('nodes').find(({ metadata }) => metadata.name === machine);
    if (node !== undefined)
      this.#kube.change('nodes', node, (live) => ({ ...live, spec: unschedulable ? { unschedulable } : {} }));
  }

  lives(instanceId: string): boolean {
    return this.#slurmds.has(instanceId);
  }

  /** Its containers have ended, and the kubelet has said so. */
  isDead(pod: StoredObject): boolean {
    return (pod['status'] as { phase?: string } | undefined)?.phase === 'Failed';
  }

  /** slurmd exits on its own: its jobs end with it. */
  fail(pod: StoredObject, now: number): void {
    const { hostname = '', containers = [] } = pod['spec'] as PodSpec;
    if (!this.#end(pod.metadata.uid, hostname, true)) return;
    const finishedAt = stamp(now);
    this.#setStatus(pod, {
      phase: 'Failed',
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: finishedAt }],
      containerStatuses: containers.map(({ name }) => ({
        name,
        restartCount: 0,
        state: { terminated: { exitCode: 1, finishedAt } },
      })),
    });
  }

  /** Kubelets end, bind and start pods where they can; trials of configurations succeed. */
  work(now: number): void {
    for (const pod of this.#kube.list('pods')) {
      const name = pod.metadata.labels?.[label.name];
      if (name !== app.worker) continue;
      const { nodeName, hostname = '' } = pod['spec'] as PodSpec;
      const { phase } = (pod['status'] ?? {}) as { phase?: string };
      if (nodeName !== undefined && this.lost.has(nodeName)) continue;
      if (pod.metadata.deletionTimestamp !== undefined) {
        this.#end(pod.metadata.uid, hostname, false);
        this.#kube.remove('pods', pod);
      } else if (nodeName === undefined) this.#bind(pod);
      else if (phase !== 'Running' && phase !== 'Failed' && this.imageComes) this.#start(pod, now);
    }
    for (const claim of this.#kube.list('persistentvolumeclaims'))
      if (claim.metadata.deletionTimestamp !== undefined) this.#kube.remove('persistentvolumeclaims', claim);
  }

  /** slurmd that have started register, once; the answer names the nodes whose slurmd can be reached. */
  register(): ReadonlySet<string> {
    const alive = new Set<string>();
    for (const slurmd of this.#slurmds.values()) {
      if (this.lost.has(slurmd.machine)) continue;
      const holder = this.#slurm.nodes.get(slurmd.name)?.instanceId;
      // A name that another living slurmd has: the first one keeps it here, so that no job is lost by the model's choice.
      const taken = holder !== undefined && holder !== slurmd.instanceId && this.#slurmds.has(holder);
      if (!slurmd.registered && !taken) slurmd.registered = this.#slurm.register(slurmd);
      if (this.#slurm.nodes.get(slurmd.name)?.instanceId === slurmd.instanceId) alive.add(slurmd.name);
    }
    return alive;
  }

  #bind(pod: StoredObject): void {
    const used = new Set(this.#kube.list('pods').map((one) => (one['spec'] as PodSpec).nodeName));
    const free = this.#kube
      .list('nodes')
      .filter(
        ({ metadata, ...node }) =>
          !this.lost.has(metadata.name) &&
          (node['spec'] as { unschedulable?: boolean }).unschedulable !== true,
      )
      .map(({ metadata }) => metadata.name);
    const target = pod.metadata.annotations?.[targetNodeAnnotation];
    const nodeName = target ?? free.find((name) => !used.has(name)) ?? free[0];
    if (nodeName === undefined || this.lost.has(nodeName)) return;
    this.#kube.change('pods', pod, (live) => ({ ...live, spec: { ...(live['spec'] as object), nodeName } }));
  }

  #start(pod: StoredObject, now: number): void {
    const { hostname = '', nodeName = '', containers = [] } = pod['spec'] as PodSpec;
    this.#addresses += 1;
    const address = `10.0.${this.#addresses >> 8}.${this.#addresses & 255}`;
    const at = stamp(now);
    this.#slurmds.set(pod.metadata.uid, {
      name: hostname,
      address,
      instanceId: pod.metadata.uid,
      instanceType: flagOf(containers, '--instance-type'),
      features: featuresOf(containers),
      startedAt: Date.parse(at),
      owner: pod.metadata.ownerReferences?.find(({ kind }) => kind === 'NodeSet')?.uid ?? 'orphan',
      registered: false,
      machine: nodeName,
    });
    this.#setStatus(pod, {
      phase: 'Running',
      podIP: address,
      conditions: [
        { type: 'PodScheduled', status: 'True', lastTransitionTime: at },
        { type: 'Ready', status: 'True', lastTransitionTime: at },
      ],
      containerStatuses: containers.map(({ name }) => ({
        name,
        restartCount: 0,
        state: { running: { startedAt: at } },
      })),
    });
  }

  /** `alone`: it exited on its own, and the loss of its jobs breaks no law. The deletion of a pod was checked when it was requested. */
  #end(uid: string, hostname: string, alone: boolean): boolean {
    if (!this.#slurmds.delete(uid)) return false;
    const why = alone ? 'its slurmd ended' : 'its worker was deleted';
    if (this.#slurm.nodes.get(hostname)?.instanceId === uid) this.#slurm.slurmdEnded(hostname, why, true);
    return true;
  }

  #setStatus(pod: StoredObject, status: object): void {
    this.#kube.change('pods', pod, (live) => ({ ...live, status }));
  }

  #report(machine: string, status: string, now: number): void {
    const node = this.#kube.list('nodes').find(({ metadata }) => metadata.name === machine);
    const lastTransitionTime = stamp(now - (status === 'True' ? 3_600_000 : 0));
    if (node !== undefined)
      this.#kube.change('nodes', node, (live) => ({
        ...live,
        status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] },
      }));
  }
}

function featuresOf(containers: NonNullable<PodSpec['containers']>): string[] {
  return /Feature=(\S+)/.exec(flagOf(containers, '--conf'))?.[1]?.replaceAll("'", '').split(',') ?? [];
}

/** What slurmd was given behind a flag. */
function flagOf(containers: NonNullable<PodSpec['containers']>, flag: string): string {
  const { args = [] } = containers.find((container) => container.args?.includes(flag)) ?? {};
  return args[args.indexOf(flag) + 1] ?? '';
}
