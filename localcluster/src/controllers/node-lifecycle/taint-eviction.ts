/** Deletes pods from nodes with a NoExecute taint when the time that they tolerate it is over. */
import {
  type Manager,
  type ReconcileContext,
  type Request,
  type Result,
  timestamp,
} from '@slurm-operator/kube';
import { nodes, type Pod, pods } from '../../objects/objects.ts';
import { isFinished, isTerminating } from '../../objects/pods.ts';
import { evictionTime } from './plan.ts';

export class TaintEviction {
  readonly #manager: Manager;

  constructor(manager: Manager) {
    this.#manager = manager;
  }

  async reconcile({ namespace, name }: Request, { signal }: ReconcileContext): Promise<Result | undefined> {
    const { cache, clock } = this.#manager;
    const pod = cache.get(pods, { namespace, name });
    const node = pod?.spec.nodeName === undefined ? undefined : cache.get(nodes, { name: pod.spec.nodeName });
    if (pod === undefined || node === undefined || isFinished(pod)) return;
    const at = evictionTime(pod, node);
    if (at === undefined) return;
    const left = at - clock.now();
    if (left > 0) return { requeueAfter: left };
    await this.#evict(pod, signal);
    return;
  }

  async #evict(pod: Pod, signal: AbortSignal): Promise<void> {
    const { client, clock, recorder } = this.#manager;
    if (isTerminating(pod)) return;
    const disrupted = {
      type: 'DisruptionTarget',
      ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: timestamp(clock.now()),
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
    };
    await client.patch(
      pods,
      pod.metadata,
      {
        type: 'strategic',
        body: { metadata: { uid: pod.metadata.uid }, status: { conditions: [disrupted] } },
      },
      { subresource: 'status', signal },
    );
    recorder.normal(
      pod,
      'TaintManagerEviction',
      `Marking for deletion Pod ${pod.metadata.namespace ?? ''}/${pod.metadata.name}`,
    );
    await client.delete(pods, pod.metadata, { uid: pod.metadata.uid, signal });
  }
}
