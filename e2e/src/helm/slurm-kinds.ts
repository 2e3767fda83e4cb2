/** Whether everything that belongs to a Slurm cluster is Ready, and what it says if not. */
import { conditionType } from '@slurm-operator/api';
import { type Client, sleep } from '@slurm-operator/kube';
import { everyKind } from '@slurm-operator/operator';
import { currentCondition } from '../current-condition.ts';

export interface KindState {
  readonly kind: string;
  readonly name: string;
  readonly ready: boolean;
  /** Its own words. */
  readonly message: string;
}

export async function slurmKinds(client: Client, namespace: string): Promise<KindState[]> {
  const states: KindState[] = [];
  for (const resource of everyKind)
    for (const object of (await client.list(resource, { namespace })).items) {
      const found = currentCondition(object, conditionType.ready);
      states.push({
        kind: resource.kind,
        name: object.metadata.name,
        ready: found?.status === 'True',
        message: found === undefined ? 'it says nothing yet' : `${found.reason}: ${found.message}`,
      });
    }
  return states;
}

/** Waits until all of them are; tells each as it gets there, and who is not there yet when time is up. */
export async function untilAllReady(
  client: Client,
  namespace: string,
  options: {
    readonly timeoutMs: number;
    readonly signal?: AbortSignal;
    readonly onReady?: (state: KindState) => void;
    /** Asked again and again: throws when there is no point in waiting on. */
    readonly lookOut?: () => Promise<void>;
  },
): Promise<KindState[]> {
  const deadline = performance.now() + options.timeoutMs;
  const told = new Set<string>();
  for (;;) {
    const states = await slurmKinds(client, namespace);
    for (const state of states) {
      const key = `${state.kind}/${state.name}`;
      if (state.ready && !told.has(key)) options.onReady?.(state);
      if (state.ready) told.add(key);
    }
    // The Cluster is made by the operator, from the Controller.
    if (states.some(({ kind }) => kind === 'Cluster') && states.every(({ ready }) => ready)) return states;
    await options.lookOut?.();
    if (performance.now() > deadline)
      throw new Error(
        `not ready within ${options.timeoutMs / 1000} s:\n${states
          .filter(({ ready }) => !ready)
          .map(({ kind, name, message }) => `  ${kind} ${name}: ${message}`)
          .join('\n')}`,
      );
    await sleep(200, options.signal ?? AbortSignal.timeout(5_000));
  }
}
