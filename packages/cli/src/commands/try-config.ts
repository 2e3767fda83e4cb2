/** diff --try: slurmctld reads the new configuration in a pod of its own, which is removed again. */
import { randomBytes } from 'node:crypto';
import type { Controller } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  type Client,
  configMaps,
  draftOf,
  type Live,
  NotFoundError,
  type Pod,
  pods,
  type StatefulSet,
  sleep,
} from '@slurm-operator/kube';
import { configTrial, type ReadObjects, readManualTrial } from '@slurm-operator/operator/dry-run';
import { CliError } from '../errors.ts';
import type { Session } from '../session/session.ts';

export type TriedConfig =
  | { readonly kind: 'accepted'; readonly image: string; readonly seconds: number }
  | { readonly kind: 'rejected'; readonly image: string; readonly message: string };

export interface TryOptions {
  readonly controller: Live<Controller>;
  /** As they would be after the change. */
  readonly objects: ReadObjects;
}

/** The image may have to be pulled first. */
const patienceMs = 300_000;
const pollMs = 500;
/** What is left over must be removed even after Ctrl-C. */
const cleanUpMs = 10_000;

export async function tryConfig(session: Session, { controller, objects }: TryOptions): Promise<TriedConfig> {
  const image = imageOf(controller, objects);
  const built = configTrial({ controller, objects, image, suffix: randomBytes(4).toString('hex') });
  if (built === undefined) throw new CliError('slurm.conf cannot be rendered, so it cannot be tried.');
  const client = await session.client();
  const { signal } = session;
  const { name, uid, namespace } = controller.metadata;
  // Should this process end before it cleans up, they go with the Controller at the latest.
  const ownerReferences = [{ apiVersion: controller.apiVersion, kind: controller.kind, name, uid }];
  const owned = <T extends { readonly metadata: object }>(object: T) => ({
    ...object,
    metadata: { ...object.metadata, ownerReferences },
  });
  session.progress(`Trying the configuration in pod ${built.pod.metadata.name} …`);
  const ref = { namespace, name: built.pod.metadata.name ?? '' };
  try {
    await client.create(configMaps, draftOf(configMaps, owned(built.configMap)), { signal });
    await client.create(pods, draftOf(pods, owned(built.pod)), { signal });
    return await resultOf(session, client, ref, image);
  } catch (error) {
    if (error instanceof AlreadyExistsError) throw new CliError('Another trial has this name: try again.');
    throw error;
  } finally {
    await cleanUp(session, client, ref);
  }
}

async function resultOf(
  session: Session,
  client: Client,
  ref: { readonly namespace: string; readonly name: string },
  image: string,
): Promise<TriedConfig> {
  const { signal } = session;
  const deadline = Date.now() + patienceMs;
  for (let told = ''; ; ) {
    const pod = await client.get(pods, ref, { signal });
    const read = readManualTrial(pod);
    if (read.kind === 'passed') return { kind: 'accepted', image, seconds: secondsOf(pod) };
    if (read.kind === 'refused') return { kind: 'rejected', image, message: read.message };
    if (read.kind === 'failed') throw new CliError(`The trial has no result: ${read.message}`);
    const words = read.kind === 'waits' ? read.message : '';
    if (Date.now() > deadline)
      throw new CliError(
        `The trial has no result after ${patienceMs / 1000} s${words === '' ? '' : `: ${words}`}`,
      );
    if (words !== '' && words !== told) session.progress(`${ref.name}: ${words}`);
    told = words;
    await sleep(pollMs, signal);
  }
}

function secondsOf({ status }: Live<Pod>): number {
  const ended = status?.containerStatuses?.find(({ name }) => name === 'slurmctld')?.state?.terminated;
  return (Date.parse(ended?.finishedAt ?? '') - Date.parse(ended?.startedAt ?? '')) / 1000 || 0;
}

async function cleanUp(
  session: Session,
  client: Client,
  ref: { readonly namespace: string; readonly name: string },
): Promise<void> {
  const signal = AbortSignal.timeout(cleanUpMs);
  const results = await Promise.allSettled([
    client.delete(pods, ref, { gracePeriodSeconds: 0, signal }),
    client.delete(configMaps, ref, { signal }),
  ]);
  const left = results.flatMap((result) =>
    result.status === 'rejected' && !(result.reason instanceof NotFoundError) ? [result] : [],
  );
  if (left.length > 0)
    session.note(
      `Could not remove what the trial left: kubectl -n ${ref.namespace} delete pod,configmap ${ref.name}`,
    );
}

/** That of the Controller, else what its StatefulSet runs. */
function imageOf(controller: Live<Controller>, objects: ReadObjects): string {
  const { slurmctld, external } = controller.spec;
  if (external)
    throw new CliError(`Controller ${controller.metadata.name} runs elsewhere: nothing can be tried here.`);
  const set = (objects['statefulsets'] ?? []).find((one) =>
    one.metadata.ownerReferences?.some(({ uid }) => uid === controller.metadata.uid),
  ) as Live<StatefulSet> | undefined;
  const running = set?.spec?.template.spec?.containers.find(({ name }) => name === 'slurmctld')?.image;
  const image = slurmctld?.image ?? running;
  if (image === undefined)
    throw new CliError(`The image of slurmctld is not known: set spec.slurmctld.image of the Controller.`);
  return image;
}
