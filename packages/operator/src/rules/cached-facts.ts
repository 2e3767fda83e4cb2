/** What the rules of kinds other than Controller look at, from the caches of the operator. */
import type { Cache } from '@slurm-operator/kube';
import { controllers } from '../cache/resources.ts';
import type { SpecFacts, WorkerNames } from './findings.ts';

export function cachedFacts(
  cache: Pick<Cache, 'get'>,
  { namespace }: { readonly namespace?: string | undefined },
  nodeSets: readonly WorkerNames[] = [],
): SpecFacts {
  return {
    configMapKeys: () => undefined,
    claimModes: () => undefined,
    hasController: (name) => cache.get(controllers, { namespace: namespace ?? '', name }) !== undefined,
    nodeSets: () => nodeSets,
  };
}
