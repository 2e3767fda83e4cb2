/**
 * What pending jobs ask for by name. `jobs/state` is cheap and says which jobs wait; only those that were not read yet are read, one by
 * one where they are few, else with the list of all jobs.
 */
import { expandHostlist, jobKey, type SlurmClient, SlurmError, type SlurmJob } from '@slurm-operator/slurm';
import type { PendingNeed, PendingNeeds } from './slurm-gateway.ts';

/** More new jobs than this are read with one list. */
const mostSingle = 16;

/** Users can change what a job asks for: all of them are read again after this time. */
const readAgainMs = 60_000;

/** Half a million jobs of 8 KB. */
const longestList = { maxAnswerBytes: 4 * 2 ** 30, timeoutMs: 300_000 };

export class PendingJobs {
  readonly #client: Pick<SlurmClient, 'jobs'>;
  readonly #now: () => number;
  /** Pending jobs by their id in a list of jobs; undefined: it asks for nothing by name. */
  #read = new Map<string, PendingNeed | undefined>();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(client: Pick<SlurmClient, 'jobs'>, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  async needs(signal: AbortSignal): Promise<PendingNeeds> {
    try {
      const { items } = await this.#client.jobs.states(undefined, { signal });
      const pending = items.filter(({ state }) => state.includes('PENDING')).map(({ id }) => id);
      await this.#readNew(pending, signal);
      const keys = new Set(pending.map((id) => this.#keyOf(id)));
      this.#read = new Map([...this.#read].filter(([key]) => keys.has(key)));
      const unread = pending.find((id) => !this.#read.has(this.#keyOf(id)));
      if (unread !== undefined)
        return { kind: 'unknown', why: `Slurm does not show what job ${unread} asks for` };
      return { kind: 'known', jobs: [...this.#read.values()].filter((need) => need !== undefined) };
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
      return { kind: 'unknown', why: error.message };
    }
  }

  /** The tasks of an array that wait are one job there; here each of them is listed, by the number of the array. */
  #keyOf(id: string): string {
    return this.#read.has(id) ? id : arrayOf(id);
  }

  async #readNew(pending: readonly string[], signal: AbortSignal): Promise<void> {
    const now = this.#now();
    // A clock that was set back must not make an old answer new.
    const isOld = now - this.#readAt >= readAgainMs || now < this.#readAt;
    const unread = pending.filter((id) => isOld || !this.#read.has(this.#keyOf(id)));
    if (unread.length === 0) return;
    if (!isOld && unread.length <= mostSingle) {
      for (const id of unread) {
        if (this.#read.has(this.#keyOf(id))) continue;
        const { jobs } = this.#client;
        const job = (await jobs.get(id, { signal })) ?? (await jobs.get(arrayOf(id), { signal }));
        if (job !== undefined) this.#read.set(jobKey(job), needOf(jobKey(job), job));
      }
      return;
    }
    const { items } = await this.#client.jobs.list({ signal, ...longestList });
    this.#read = new Map(items.map((job) => [jobKey(job), needOf(jobKey(job), job)]));
    this.#readAt = now;
  }
}

const arrayOf = (id: string): string => id.split('_', 1)[0] ?? id;

/** Of a job in any state: one that began since it was listed as pending may be put back into the queue before it is listed again. */
function needOf(id: string, { requiredNodes, constraints }: SlurmJob): PendingNeed | undefined {
  const nodes = requiredNodes === '' ? [] : namesIn(requiredNodes);
  const features = featuresIn(constraints);
  return nodes.length + features.length === 0 ? undefined : { id, nodes, features };
}

/** Every name in it, whatever the operators between them: `[rack1*2&rack2*4]`, `a|b`. */
const featuresIn = (constraints: string): string[] =>
  constraints.split(/[^A-Za-z0-9_.:/-]+/).filter((name) => name !== '');

function namesIn(hostlist: string): readonly string[] {
  try {
    return expandHostlist(hostlist);
  } catch {
    return [hostlist];
  }
}
