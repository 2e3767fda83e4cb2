/** How tests wait for real daemons. */
import { conditionType } from '@slurm-operator/api';
import {
  currentCondition,
  gatherEvidence,
  isEverythingReady,
  notReady,
  type ObservedObject,
  showLine,
} from '@slurm-operator/demo/waiting';
import type { Client, Condition, KubeObject, ObjectRef, Resource } from '@slurm-operator/kube';
import { type UntilOptions, until as untilFound } from '@slurm-operator/kube/testing';

/** `until` of `kube` with a longer deadline and interval: real daemons are slow, and each poll starts a process. */
export const until: typeof untilFound = (what, look, patience) =>
  untilFound(what, look, { seconds: 300, everyMs: 200, ...patience });

/** The condition as soon as it has the expected status and reason; at the deadline an error with its message. */
export function untilCondition<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  ref: ObjectRef,
  wanted: { readonly type: string; readonly status?: string; readonly reason?: string },
  patience?: UntilOptions,
): Promise<Condition> {
  const { type, status, reason } = wanted;
  return until(
    `${resource.kind} ${ref.name} says ${[type, status, reason].filter(Boolean).join(' ')}`,
    async () => {
      const found = currentCondition(await client.get(resource, ref), type);
      if (found === undefined) throw new Error('it says nothing yet');
      if ((status ?? found.status) === found.status && (reason ?? found.reason) === found.reason)
        return found;
      throw new Error(`it says ${found.status}, ${found.reason}: ${found.message}`);
    },
    patience,
  );
}

export const untilReady = <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  ref: ObjectRef,
  patience?: UntilOptions,
): Promise<Condition> =>
  untilCondition(client, resource, ref, { type: conditionType.ready, status: 'True' }, patience);

/** All objects of our kinds as soon as they are Ready; at the deadline an error that lists what is not. */
export function untilAllReady(
  client: Client,
  namespace: string,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<readonly ObservedObject[]> {
  return until(
    `everything in ${namespace} is Ready`,
    async () => {
      const evidence = await gatherEvidence(client, [namespace]);
      if (isEverythingReady(evidence)) return evidence.objects;
      throw new Error(notReady(evidence).map(showLine).join('\n'));
    },
    { seconds: timeoutMs / 1000 },
  );
}
