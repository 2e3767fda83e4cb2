/** What a rule finds in a specification: one sentence, said by the webhook at the request and by a condition afterwards. */

import type { Cache } from '@slurm-operator/kube';
import { controllers } from '../cache/resources.ts';
import type { Problem } from '../framework/status/conditions.ts';

export interface Finding extends Problem {
  /**
   * `error`: the webhook refuses the request. `warning`: it lets it pass and says so. `hint`: the same, but nothing is known to be
   * wrong, so that the controllers say it in an event and not in a condition.
   */
  readonly severity: 'error' | 'warning' | 'hint';
}

/** What a rule may look at besides the object. */
export interface SpecFacts {
  /** The keys of a ConfigMap; undefined when there is none of that name. */
  readonly configMapKeys: (name: string) => readonly string[] | undefined;
  /** The access modes of a claim; undefined when there is none of that name. */
  readonly claimModes: (name: string) => readonly string[] | undefined;
  readonly hasController: (name: string) => boolean;
  /** The NodeSets that take precedence where two give their Slurm nodes the same names. */
  readonly nodeSets: () => readonly WorkerNames[];
}

/** What of a NodeSet decides how its Slurm nodes are called. */
export interface WorkerNames {
  readonly name: string;
  readonly controller: string;
  readonly prefix: string;
}

/** What belongs into the conditions of the object: everything but hints. */
export const problemsIn = (findings: readonly Finding[]): Problem[] =>
  findings.flatMap(({ severity, ...problem }) => (severity === 'hint' ? [] : [problem]));

export const specHints = (findings: readonly Finding[]): string[] =>
  findings.flatMap(({ severity, message }) => (severity === 'hint' ? [message] : []));

/** What the rules of kinds other than Controller look at, from the caches of the operator. */
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
