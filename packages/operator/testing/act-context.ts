/** What `act` needs besides its actions: nothing fails, nothing is told, and the clock stands at zero unless the test says otherwise. */
import type { NodeSet } from '@slurm-operator/api';
import type { Client } from '@slurm-operator/kube';
import type { ActContext } from '../src/kinds/nodeset/act/act.ts';

export function actContext(over: Partial<ActContext> = {}): ActContext {
  return {
    client: {} as Client,
    gateway: undefined,
    nodeSet: { metadata: { name: 'w', namespace: 'slurm' } } as unknown as NodeSet,
    createWorker: async () => undefined,
    wrote: () => undefined,
    refused: () => undefined,
    storeRequeueable: async () => undefined,
    requeueable: () => undefined,
    done: () => undefined,
    signal: AbortSignal.timeout(60_000),
    now: () => 0,
    parallel: 4,
    ...over,
  };
}
