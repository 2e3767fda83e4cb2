/** Places pods: a queue by priority, an up-to-date view of the nodes, one decision at a time, bound through the API. */
import { ConflictError, type Manager, NotFoundError, pathOf, type Runnable } from '@slurm-operator/kube';
import { claims, type Node, nodes, type Pod, pods, volumes } from '../objects/objects.ts';
import { isFinished, isTerminating } from '../objects/pods.ts';
import { addPod, type NodeView, removePod, viewNode } from './node-view.ts';
import { schedulePod } from './schedule.ts';
import { claimObstacle } from './volume-fit.ts';

export const schedulerName = 'default-scheduler';

/** So many bindings are under way at once; the decisions themselves are made one by one. */
const bindingsAtOnce = 16;
/** A pod that found no place is looked at again at the latest after this, whatever happens. */
const retryMs = 30_000;

export class Scheduler implements Runnable {
  readonly name = 'scheduler';
  readonly #manager: Manager;
  readonly #views = new Map<string, NodeView>();
  readonly #placed = new Map<string, string>();
  readonly #waiting = new Map<string, Pod>();
  readonly #parked = new Map<string, Pod>();
  #ordered: NodeView[] | undefined;
  #offset = 0;
  #binding = 0;
  #wake: () => void = () => {};

  constructor(manager: Manager) {
    this.#manager = manager;
    const { cache } = manager;
    cache.informer(claims).subscribe(() => this.#unpark());
    cache.informer(volumes);
    cache.informer(nodes).subscribe((change) => this.#nodeChanged(change.object, change.type === 'deleted'));
    cache.informer(pods).subscribe((change) => this.#podChanged(change.object, change.type === 'deleted'));
  }

  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake();
    signal.addEventListener('abort', wake, { once: true });
    const timer = setInterval(() => this.#unpark(), retryMs);
    try {
      while (!signal.aborted) {
        const pod = this.#binding < bindingsAtOnce ? this.#next() : undefined;
        if (pod === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else await this.#place(pod, signal);
      }
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', wake);
    }
  }

  #nodeChanged(node: Node, gone: boolean): void {
    const { name } = node.metadata;
    const before = this.#views.get(name);
    if (gone) this.#views.delete(name);
    else this.#views.set(name, viewNode(node, before?.pods.values() ?? this.#podsOn(name)));
    this.#ordered = undefined;
    if (before === undefined || gone || mattersToScheduling(before.node, node)) this.#unpark();
  }

  #podsOn(node: string): Pod[] {
    return this.#manager.cache.list(pods).filter((pod) => pod.spec.nodeName === node && !isFinished(pod));
  }

  #podChanged(pod: Pod, gone: boolean): void {
    const { uid } = pod.metadata;
    const node = pod.spec.nodeName ?? '';
    const held = this.#placed.get(uid);
    if (gone || isFinished(pod)) {
      this.#waiting.delete(uid);
      this.#parked.delete(uid);
      if (held !== undefined) {
        const view = this.#views.get(held);
        if (view !== undefined) removePod(view, uid);
        this.#placed.delete(uid);
        this.#unpark();
      }
      return;
    }
    if (node !== '') {
      this.#waiting.delete(uid);
      this.#parked.delete(uid);
      const view = this.#views.get(node);
      if (view !== undefined) addPod(view, pod);
      const isNew = held === undefined;
      this.#placed.set(uid, node);
      // A newly placed pod can only help those that want to be near it.
      if (isNew && [...this.#parked.values()].some((other) => other.spec.affinity?.podAffinity !== undefined))
        this.#unpark();
      return;
    }
    if (
      held !== undefined ||
      (pod.spec.schedulerName ?? schedulerName) !== schedulerName ||
      isTerminating(pod)
    )
      return;
    if ((pod.spec.schedulingGates ?? []).length > 0) return;
    const parked = this.#parked.get(uid);
    // Our own note in its status is no reason to try again; a change of what it wants is.
    if (parked !== undefined && parked.metadata.generation === pod.metadata.generation) {
      this.#parked.set(uid, pod);
      return;
    }
    this.#parked.delete(uid);
    this.#waiting.set(uid, pod);
    this.#wake();
  }

  #unpark(): void {
    if (this.#parked.size === 0) return;
    for (const [uid, pod] of this.#parked) this.#waiting.set(uid, pod);
    this.#parked.clear();
    this.#wake();
  }

  /** The most important pod, and among equals the one that waits longest. */
  #next(): Pod | undefined {
    let best: Pod | undefined;
    for (const pod of this.#waiting.values()) {
      if (best === undefined || (pod.spec.priority ?? 0) > (best.spec.priority ?? 0)) best = pod;
    }
    if (best !== undefined) this.#waiting.delete(best.metadata.uid);
    return best;
  }

  async #place(pod: Pod, signal: AbortSignal): Promise<void> {
    const { cache, recorder } = this.#manager;
    const { uid } = pod.metadata;
    this.#ordered ??= [...this.#views.values()];
    const claim = claimObstacle(pod, {
      claim: (name) => cache.get(claims, { namespace: pod.metadata.namespace, name }),
      volume: (name) => cache.get(volumes, { name }),
    });
    const placement =
      claim.why === undefined
        ? schedulePod(pod, this.#ordered, { volumeObstacle: claim.onNode, offset: this.#offset })
        : {
            why: `0/${this.#ordered.length} nodes are available: ${claim.why}. preemption: 0/${this.#ordered.length} nodes are available: ${this.#ordered.length} Preemption is not helpful for scheduling.`,
          };
    this.#offset = (this.#offset + 1) % Math.max(1, this.#ordered.length);
    if ('node' in placement) {
      // Assumed placed at once, so that the next decision counts it.
      const view = this.#views.get(placement.node);
      if (view !== undefined) addPod(view, pod);
      this.#placed.set(uid, placement.node);
      this.#binding += 1;
      void this.#bind(pod, placement.node, signal).finally(() => {
        this.#binding -= 1;
        this.#wake();
      });
      return;
    }
    this.#parked.set(uid, pod);
    recorder.warning(pod, 'FailedScheduling', placement.why, 'Scheduling');
    await this.#note(pod, placement.why, signal);
    if ('preempt' in placement && placement.preempt !== undefined)
      await this.#preempt(pod, placement.preempt.node, placement.preempt.victims, signal);
  }

  async #bind(pod: Pod, node: string, signal: AbortSignal): Promise<void> {
    const { client, recorder, log } = this.#manager;
    const { namespace, name, uid } = pod.metadata;
    try {
      await client.json('POST', pathOf(pods, { namespace, name, subresource: 'binding' }), {
        body: {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name, namespace, uid },
          target: { apiVersion: 'v1', kind: 'Node', name: node },
        },
        signal,
        timeout: 30_000,
        doing: `bind Pod ${namespace ?? ''}/${name}`,
      });
      recorder.normal(
        pod,
        'Scheduled',
        `Successfully assigned ${namespace ?? ''}/${name} to ${node}`,
        'Binding',
      );
    } catch (error) {
      const view = this.#views.get(node);
      if (view !== undefined) removePod(view, uid);
      this.#placed.delete(uid);
      if (signal.aborted || error instanceof NotFoundError || error instanceof ConflictError) return;
      log.warn({ reason: (error as Error).message, pod: `${namespace ?? ''}/${name}` }, 'binding failed');
      recorder.warning(pod, 'FailedScheduling', `running "Bind": ${(error as Error).message}`, 'Scheduling');
      this.#parked.set(uid, pod);
      setTimeout(() => this.#unpark(), 1000).unref();
    }
  }

  async #note(pod: Pod, message: string, signal: AbortSignal): Promise<void> {
    const before = pod.status?.conditions?.find((entry) => entry.type === 'PodScheduled');
    if (before?.status === 'False' && before.message === message) return;
    const at = new Date(this.#manager.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastProbeTime: null,
      lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : at,
    };
    await this.#manager.client
      .patch(
        pods,
        pod.metadata,
        {
          type: 'strategic',
          body: { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } },
        },
        { subresource: 'status', signal, fieldManager: 'kube-scheduler' },
      )
      .catch(() => {});
  }

  async #preempt(pod: Pod, node: string, victims: readonly Pod[], signal: AbortSignal): Promise<void> {
    const { client, recorder } = this.#manager;
    for (const victim of victims) {
      if (isTerminating(victim)) continue;
      recorder.normal(
        victim,
        'Preempted',
        `Preempted by pod ${pod.metadata.uid} on node ${node}`,
        'Preempting',
      );
      await client.delete(pods, victim.metadata, { uid: victim.metadata.uid, signal }).catch(() => {});
    }
  }
}

/** A heartbeat is no news; room, labels, taints and the cordon are. */
function mattersToScheduling(before: Node, after: Node): boolean {
  const of = (node: Node) => JSON.stringify([node.spec, node.metadata.labels, node.status?.allocatable]);
  return of(before) !== of(after);
}
