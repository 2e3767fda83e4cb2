/** Waiting until an object says something of itself. */
import { conditionType } from '@slurm-operator/api';
import { currentCondition } from '@slurm-operator/demo/waiting';
import type { Client, Condition, KubeObject, ObjectRef, Resource } from '@slurm-operator/kube';
import type { UntilOptions } from '@slurm-operator/kube/testing';
import { until } from './until.ts';

/** The condition, once it is as wanted; at the deadline its own words. */
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
