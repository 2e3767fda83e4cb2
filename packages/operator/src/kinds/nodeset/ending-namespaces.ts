/**
 * With `--namespaces`: when a namespace is deleted, Kubernetes may delete the Role in it before the NodeSets. The operator can observe
 * nothing there any more, the pods are deleted without it, and only the finalizers of the NodeSets keep the namespace in Terminating.
 */
import { nodeSetFinalizers } from '@slurm-operator/api';
import {
  explain,
  ForbiddenError,
  hasFinalizer,
  type Manager,
  namespaces,
  pathOf,
  sleep,
} from '@slurm-operator/kube';
import { nodeSets } from '../../cache/resources.ts';
import { removeFinalizers } from './act/act.ts';

const PERIOD = 15_000;

export class EndingNamespaces {
  readonly name = 'ending namespaces';
  readonly #manager: Pick<Manager, 'client' | 'cache' | 'clock' | 'log'>;
  readonly #namespaces: readonly string[];

  constructor(manager: Pick<Manager, 'client' | 'cache' | 'clock' | 'log'>, watched: readonly string[]) {
    this.#manager = manager;
    this.#namespaces = watched;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#manager;
    while (!signal.aborted) {
      await sleep(PERIOD * (0.9 + 0.2 * clock.random()), signal, clock).catch(() => undefined);
      for (const namespace of this.#namespaces) if (!signal.aborted) await this.#release(namespace, signal);
    }
  }

  async #release(namespace: string, signal: AbortSignal): Promise<void> {
    const { client, cache, log } = this.#manager;
    // Most recently observed: the watches of the cache may have ended.
    const held = cache
      .list(nodeSets, { namespace })
      .filter((nodeSet) => nodeSetFinalizers.some((name) => hasFinalizer(nodeSet, name)));
    if (held.length === 0) return;
    try {
      if (!(await this.#isRefused(namespace, signal))) return;
      const { metadata } = await client.get(namespaces, { name: namespace }, { signal });
      if (metadata.deletionTimestamp === undefined) return;
      for (const nodeSet of held) {
        await removeFinalizers(client, nodeSet, signal);
        log.info(
          { namespace, nodeSet: nodeSet.metadata.name },
          'finalizers removed: the namespace is being deleted, and the permissions of the operator in it are deleted already',
        );
      }
    } catch (error) {
      if (!signal.aborted)
        log.warn(
          { namespace, reason: explain(error) },
          'cannot release the NodeSets of an inaccessible namespace',
        );
    }
  }

  async #isRefused(namespace: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#manager.client.json('GET', `${pathOf(nodeSets, { namespace })}?limit=1`, { signal });
      return false;
    } catch (error) {
      if (error instanceof ForbiddenError) return true;
      throw error;
    }
  }
}
