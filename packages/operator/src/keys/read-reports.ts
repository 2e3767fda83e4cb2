/**
 * Which keys the slurmd of a worker has read. Only the worker itself knows: it says so in its log (images/files/slurmd-keys.bash), again and
 * again while a change is under way, after its slurmd executed its program again with these keys. Nothing else in Kubernetes or Slurm shows it.
 */
import { app } from '@slurm-operator/api';
import { type Client, ForbiddenError, podLog } from '@slurm-operator/kube';

export interface ReportingWorker {
  readonly name: string;
  readonly uid: string;
}

export interface KeyReport {
  /** The digest of the keys that were read. */
  readonly read: string | undefined;
  /** Why the log could not be read. */
  readonly unreadable?: string | undefined;
}

/** A worker says it every ten seconds. */
const sinceSeconds = 25;
const limitBytes = 4 << 20;
const timeout = 10_000;
const atOnce = 16;
/** Of one reconcile; the rest follows in the next one. */
const most = 320;

/** Reports that were read, of one Controller; a report of the desired keys is not read again. */
export class KeyReports {
  readonly #known = new Map<string, Map<string, KeyReport>>();

  forget(controller: string): void {
    this.#known.delete(controller);
  }

  /** Uid of a worker → its report. */
  async read(
    client: Client,
    { namespace, uid }: { readonly namespace: string; readonly uid: string },
    workers: readonly ReportingWorker[],
    desired: string,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, KeyReport>> {
    const before = this.#known.get(uid) ?? new Map<string, KeyReport>();
    const known = new Map(workers.flatMap((worker) => pick(before, worker.uid)));
    this.#known.set(uid, known);
    const open = workers.filter((worker) => known.get(worker.uid)?.read !== desired).slice(0, most);
    for (let from = 0; from < open.length; from += atOnce)
      await Promise.all(
        open.slice(from, from + atOnce).map(async (worker) => {
          const report = await readReport(client, namespace, worker.name, signal);
          known.delete(worker.uid);
          known.set(worker.uid, report);
        }),
      );
    return known;
  }
}

const pick = (known: ReadonlyMap<string, KeyReport>, uid: string): [string, KeyReport][] => {
  const report = known.get(uid);
  return report === undefined ? [] : [[uid, report]];
};

async function readReport(
  client: Client,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<KeyReport> {
  try {
    const options = { container: app.worker, sinceSeconds, limitBytes, timeout, signal };
    return { read: reportedKeys(await podLog(client, { namespace, name }, options)) };
  } catch (error) {
    if (signal.aborted) throw error;
    const unreadable =
      error instanceof ForbiddenError
        ? 'the operator may not read logs: grant it get of pods/log'
        : 'its log cannot be read';
    return { read: undefined, unreadable };
  }
}

/** The last report in a log. */
export function reportedKeys(log: string): string | undefined {
  return [...log.matchAll(/^slurm\.jwks: slurmd uses the keys ([0-9a-f]{64})$/gm)].at(-1)?.[1];
}
