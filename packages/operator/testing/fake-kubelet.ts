/** Runs no container: binds pods, reports them Running and Ready, and lets deleted ones go. For tests on the embedded API server. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
  ConflictError,
  InvalidError,
  NotFoundError,
  type Pod,
  persistentVolumeClaims,
  pods,
  timestamp,
} from '@slurm-operator/kube';

export interface FakeKubeletOptions {
  readonly client: Client;
  readonly namespace: string;
  /** Its containers start now; answers when that is. */
  readonly started?: (pod: Pod) => Promise<number>;
  /** False: no machine is free for it; asked again every 200 ms. @default true */
  readonly schedules?: (pod: Pod) => boolean;
  /** Its containers end now; the pod is gone when they have. */
  readonly ended?: (pod: Pod) => void | Promise<void>;
}

export async function runFakeKubelet(
  { client, namespace, started, ended, schedules = () => true }: FakeKubeletOptions,
  signal: AbortSignal,
): Promise<void> {
  const known = new Set<string>();
  const over = new Set<string>();
  const pending: Promise<void>[] = [];
  try {
    await client.watch(pods, { namespace, sendInitialEvents: true, signal }, (event) => {
      if (event.type === 'DELETED') over.add(event.object.metadata.uid);
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') return;
      pending.push(step(event.object as unknown as Pod));
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await Promise.all(pending);

  async function step(pod: Pod): Promise<void> {
    const { uid = '' } = pod.metadata;
    try {
      if (pod.metadata.deletionTimestamp !== undefined) {
        if (over.has(uid)) return;
        over.add(uid);
        await ended?.(pod);
        await endPod(client, pod, signal);
      } else if (!known.has(uid)) {
        known.add(uid);
        if (!schedules(pod)) await reportUnschedulable(client, pod, signal);
        while (!schedules(pod)) {
          await delay(200, undefined, { signal });
          if (over.has(uid)) return;
        }
        await bindPod(client, pod, signal);
        const at = (await started?.(pod)) ?? Date.now();
        await reportRunning(client, pod, at, signal);
      }
    } catch (error) {
      if (!signal.aborted && !isReplaced(error)) throw error;
    }
  }
}

/** The pod is gone, or one of the same name has come after it. */
function isReplaced(error: unknown): boolean {
  return error instanceof NotFoundError || error instanceof ConflictError || error instanceof InvalidError;
}

export async function bindPod(client: Client, pod: Pod, signal?: AbortSignal): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata;
  const target = pod.metadata.annotations?.['nodeset.slinky.slurm.net/target-node'] ?? 'machine-0';
  await client.json('POST', `/api/v1/namespaces/${namespace}/pods/${name}/binding`, {
    body: {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, uid },
      target: { kind: 'Node', name: target },
    },
    ...(signal === undefined ? {} : { signal }),
  });
}

async function reportUnschedulable(client: Client, pod: Pod, signal: AbortSignal): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata;
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: '0/1 nodes are available: 1 Insufficient cpu.',
    lastTransitionTime: timestamp(Date.now()),
  };
  const body = { metadata: { uid }, status: { phase: 'Pending', conditions: [condition] } };
  await client.mergePatch(pods, { namespace, name }, body, { subresource: 'status', signal });
}

/** Tells that it is Running and Ready. */
export async function reportRunning(
  client: Client,
  pod: Pod,
  startedAt: number,
  signal?: AbortSignal,
): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata;
  const options = { subresource: 'status', ...(signal === undefined ? {} : { signal }) } as const;
  const body = { metadata: { uid }, status: running(pod, startedAt) };
  await client.mergePatch(pods, { namespace, name }, body, options);
}

/** Its containers have ended: nothing holds it any more. */
export async function endPod(client: Client, pod: Pod, signal?: AbortSignal): Promise<void> {
  const { namespace = '', name, uid = '' } = pod.metadata;
  const options = signal === undefined ? {} : { signal };
  await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, uid, ...options });
}

/** Lets deleted claims go, as the controller of Kubernetes does once no pod uses them. */
export async function runClaimProtection(
  client: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const pending: Promise<unknown>[] = [];
  try {
    await client.watch(persistentVolumeClaims, { namespace, sendInitialEvents: true, signal }, (event) => {
      if (event.type !== 'MODIFIED' || event.object.metadata.deletionTimestamp === undefined) return;
      const { name } = event.object.metadata;
      const release = client.mergePatch(
        persistentVolumeClaims,
        { namespace, name },
        { metadata: { finalizers: null } },
        { signal },
      );
      pending.push(release.catch(() => undefined));
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await Promise.all(pending);
}

function running(pod: Pod, startedAt: number) {
  const now = timestamp(Date.now());
  return {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }],
    containerStatuses: (pod.spec?.containers ?? []).map((container) => ({
      name: container.name,
      image: container.image ?? '',
      imageID: '',
      ready: true,
      restartCount: 0,
      started: true,
      state: { running: { startedAt: timestamp(startedAt) } },
    })),
  };
}
