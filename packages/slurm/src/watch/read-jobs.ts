/** Reads jobs one by one, a few at a time, when a list does not say enough about them. */
import type { SlurmClient } from '../client.ts';
import { isOutage } from '../connection/circuit.ts';
import type { SlurmJob } from '../model/job.ts';

const parallelReads = 4;

/** Jobs that cannot be read must not keep others from being read: those never requested first, then the longest ago. */
export function longestUnread(
  missing: Iterable<string>,
  requestedAt: ReadonlyMap<string, number>,
): readonly string[] {
  const at = (id: string) => requestedAt.get(id) ?? Number.NEGATIVE_INFINITY;
  return [...missing].toSorted((a, b) => (at(a) === at(b) ? 0 : at(a) - at(b)));
}

/** A job that cannot be read is left out, one that Slurm does not know is `undefined`; an outage ends the round. */
export async function readJobs(
  client: SlurmClient,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, SlurmJob | undefined>> {
  const jobs = new Map<string, SlurmJob | undefined>();
  const waiting = [...ids];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        jobs.set(id, await client.jobs.get(id, { signal }));
      } catch (error) {
        if (isOutage(error)) waiting.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: parallelReads }, worker));
  return jobs;
}
