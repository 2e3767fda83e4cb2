/** Whether everything that belongs to a Slurm cluster is Ready, and what is missing if not. */

import {
  gatherEvidence,
  isEverythingReady,
  notReady,
  type ObservedObject,
  showLine,
} from '@slurm-operator/demo/waiting';
import type { Client } from '@slurm-operator/kube';
import { until } from '../until.ts';

/** All objects of our kinds, once they are Ready. */
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
