/** Claims first, then the pod: a pod whose claims are missing could not start. */
import { app, label } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  type Client,
  controllerOf,
  draftOf,
  NotOwnedError,
  persistentVolumeClaims,
  pods,
} from '@slurm-operator/kube';
import type { WorkerAction } from '../model/actions.ts';
import { type Observed, slurmNameOf } from '../model/observed.ts';
import { hostnamePrefix, workerClaims, workerPod } from '../objects/worker-pod.ts';
import type { Blueprint } from './blueprint.ts';

/** `claims`: the names of those that exist. */
export async function createWorker(
  { slot, pinnedTo, forWakeUp }: Extract<WorkerAction, { kind: 'create-worker' }>,
  observed: Pick<Observed, 'nodes' | 'hashes'>,
  claims: ReadonlySet<string>,
  { nodeSet, template, revision }: Blueprint,
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  const naming = { prefix: hostnamePrefix(nodeSet), padding: nodeSet.spec.ordinalPadding };
  const hostname = slurmNameOf(slot, { naming, nodes: observed.nodes });
  if (hostname === undefined) return;
  for (const claim of workerClaims(nodeSet, slot, hostname)) {
    if (!claims.has(claim.metadata?.name ?? ''))
      await unlessThere(
        client.create(persistentVolumeClaims, draftOf(persistentVolumeClaims, claim), { signal }),
      );
  }
  const pod = workerPod(nodeSet, template, {
    slot,
    hostname,
    hashes: observed.hashes,
    revision,
    pinnedTo,
    forWakeUp,
  });
  try {
    await client.create(pods, draftOf(pods, pod), { signal });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    // The list and not the pod: we have no need to read single ones otherwise.
    const fieldSelector = `metadata.name=${pod.metadata?.name ?? ''}`;
    const { namespace } = nodeSet.metadata;
    const [live] = (await client.list(pods, { namespace, fieldSelector, signal })).items;
    const ours = live !== undefined && controllerOf(live)?.uid === nodeSet.metadata.uid;
    // Made by an earlier try whose answer was lost: the cache shows it before long. Without our labels it never would.
    if (live === undefined || (ours && live.metadata.labels?.[label.name] === app.worker)) return;
    throw new NotOwnedError(
      `pod ${live.metadata.name} exists and is not a worker of this NodeSet: delete or rename it, or restore its labels.`,
    );
  }
}

/** Made by an earlier try whose answer was lost: the cache shows it before long. */
async function unlessThere(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
  }
}
