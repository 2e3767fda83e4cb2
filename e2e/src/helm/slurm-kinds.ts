/** Whether everything that belongs to a Slurm cluster is Ready, and what is missing if not. */
import type { Client } from '@slurm-operator/kube';
import { until } from '../until.ts';
import { type Evidence, gatherEvidence, type ObservedObject } from '../waiting/evidence.ts';
import { notReady } from '../waiting/not-ready.ts';
import { showLine } from '../waiting/waiting-line.ts';

/** The Cluster is made by the operator, from the Controller. */
export const isEverythingReady = ({ objects }: Evidence): boolean =>
  objects.some(({ kind }) => kind === 'Cluster') && objects.every(({ isReady }) => isReady);

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
