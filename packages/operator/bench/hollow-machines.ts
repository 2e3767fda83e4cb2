/**
 * Machines that are only objects: a pod that comes is bound to the next free one, one worker each, and reported Running; a pod
 * that is to go goes. Two requests for a pod's start and one for its end, as a scheduler and a kubelet make.
 */
import {
  type Client,
  type Live,
  NotFoundError,
  nodes,
  type Pod,
  pods,
  timestamp,
} from '@slurm-operator/kube';
import { inParallel } from '../src/kinds/nodeset/act/in-parallel.ts';

export class HollowMachines {
  readonly #client: Client;
  readonly #free: string[] = [];
  readonly #begun = new Set<string>();
  readonly #ended = new Set<string>();

  constructor(client: Client) {
    this.#client = client;
  }

  async add(count: number, annotations: (index: number) => Record<string, string>): Promise<void> {
    const client = this.#client;
    const indexes = Array.from({ length: count }, (_, index) => index);
    const failures = await inParallel(indexes, 32, async (index) => {
      const name = `hollow-${index}`;
      await client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, annotations: annotations(index) },
      });
      const ready = {
        type: 'Ready',
        status: 'True',
        lastTransitionTime: timestamp(Date.now()),
        lastHeartbeatTime: timestamp(Date.now()),
      };
      await client.mergePatch(nodes, { name }, { spec: { taints: null } });
      await client.mergePatch(
        nodes,
        { name },
        { status: { conditions: [ready] } },
        { subresource: 'status' },
      );
      this.#free.push(name);
    });
    if (failures.length > 0) throw failures[0];
  }

  /** Called for each deleted pod: frees its machine. */
  left(pod: Live<Pod>): void {
    const { uid } = pod.metadata;
    if (pod.spec?.nodeName !== undefined) this.#free.push(pod.spec.nodeName);
    this.#begun.delete(uid);
    this.#ended.delete(uid);
  }

  /** Called for each pod that the watch delivers; every step is taken once. */
  async see(pod: Live<Pod>): Promise<void> {
    const { uid, namespace, name, deletionTimestamp } = pod.metadata;
    const client = this.#client;
    try {
      if (deletionTimestamp !== undefined) {
        if (this.#ended.has(uid)) return;
        this.#ended.add(uid);
        await client.delete(pods, pod.metadata, { uid, gracePeriodSeconds: 0 });
      } else if (!this.#begun.has(uid)) {
        this.#begun.add(uid);
        const machine = this.#free.shift();
        if (machine === undefined) throw new Error(`there is no machine for ${name}`);
        await client.json('POST', `/api/v1/namespaces/${namespace}/pods/${name}/binding`, {
          body: {
            apiVersion: 'v1',
            kind: 'Binding',
            metadata: { name },
            target: { kind: 'Node', name: machine },
          },
        });
        await client.mergePatch(pods, pod.metadata, { status: running(pod) }, { subresource: 'status' });
      }
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
}

function running(pod: Live<Pod>) {
  const now = timestamp(Date.now());
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: now });
  return {
    phase: 'Running',
    startTime: now,
    podIP: nextAddress(),
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(condition),
    containerStatuses: (pod.spec?.containers ?? []).map((container) => ({
      name: container.name,
      image: container.image ?? '',
      imageID: '',
      ready: true,
      restartCount: 0,
      started: true,
      state: { running: { startedAt: now } },
    })),
  };
}

let addresses = 0;

/** A Slurm node belongs to a worker only if it registered from the worker's address, or names it. */
function nextAddress(): string {
  addresses += 1;
  return `10.${90 + (addresses >> 16)}.${(addresses >> 8) & 255}.${addresses & 255}`;
}
