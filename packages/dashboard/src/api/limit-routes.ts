/** What limits jobs: partitions and how full they are, reservations, qualities of service, accounts. Each is read once for all browsers. */
import { expandHostlist, type SlurmClient, SlurmError, type SlurmPartition } from '@slurm-operator/slurm';
import type { Answer, Asked, Route } from '../http/routes.ts';
import { baseState } from '../live/job-row.ts';
import { answerOf, bad, ok } from './answers.ts';
import { type ClusterView, type ClusterViews, hasAccounting } from './cluster-view.ts';

const base = '/api/clusters/:namespace/:cluster';
const keepMs = 15_000;
/** Accounts change rarely, and slurmdbd reads them from a database. */
const keepAccountsMs = 60_000;

export function limitRoutes(views: ClusterViews): readonly Route[] {
  return [
    {
      method: 'GET',
      path: `${base}/partitions`,
      rights: ['see'],
      handle: (asked) => partitions(views, asked),
    },
    // What others have used is shown to those who may see everyone's jobs.
    {
      method: 'GET',
      path: `${base}/accounts`,
      rights: ['see', 'seeAllJobs'],
      handle: (asked) => accounts(views, asked),
    },
  ];
}

async function partitions(views: ClusterViews, { cluster }: Asked): Promise<Answer> {
  const view = views.find(cluster);
  if (view === undefined) return bad(404, 'This cluster has gone.');
  return answerOf('Partitions cannot be read', async () => {
    const { shared } = view.feed;
    const [listed, reservations, qos] = await Promise.all([
      shared.read('partitions', keepMs, (signal) => view.reader.partitions.list({ signal })),
      shared.read('reservations', keepMs, (signal) => view.reader.reservations.list({ signal })),
      fromDatabase(view, 'qos', (client, signal) => client.accounting.qos.list({ signal })),
    ]);
    return ok({
      partitions: listed.items.map((one) => ({ ...one, use: useOf(view, one) })),
      reservations: reservations.items,
      qos,
    });
  });
}

async function accounts(views: ClusterViews, { cluster }: Asked): Promise<Answer> {
  const view = views.find(cluster);
  if (view === undefined) return bad(404, 'This cluster has gone.');
  return answerOf('Accounts cannot be read', async () => {
    const [known, associations] = await Promise.all([
      fromDatabase(view, 'accounts', (client, signal) => client.accounting.accounts({ signal })),
      fromDatabase(view, 'associations', (client, signal) => client.accounting.associations({ signal })),
    ]);
    const use = new Map<string, { running: number; pending: number; cpus: number; gpus: number }>();
    for (const { account, user, state, cpus, gpus } of view.feed.jobs.rows.values())
      for (const key of [account, `${account}/${user}`]) {
        const sum = use.get(key) ?? { running: 0, pending: 0, cpus: 0, gpus: 0 };
        if (baseState(state) === 'RUNNING') {
          sum.running += 1;
          sum.cpus += cpus;
          sum.gpus += gpus;
        } else if (baseState(state) === 'PENDING') sum.pending += 1;
        use.set(key, sum);
      }
    return ok({ accounts: known, associations, use: Object.fromEntries(use) });
  });
}

interface FromDatabase<T> {
  readonly items: readonly T[];
  /** Why there are none: a cluster without accounting is no error. */
  readonly missing: string;
}

async function fromDatabase<T>(
  view: ClusterView,
  name: string,
  read: (client: SlurmClient, signal: AbortSignal) => Promise<readonly T[]>,
): Promise<FromDatabase<T>> {
  if (!hasAccounting(view)) return { items: [], missing: 'This cluster has no accounting.' };
  try {
    const items = await view.feed.shared.read(name, keepAccountsMs, (signal) => read(view.reader, signal));
    return { items, missing: '' };
  } catch (error) {
    if (!(error instanceof SlurmError)) throw error;
    return { items: [], missing: error.message };
  }
}

/** Of the nodes and jobs that the watch has: no request. */
function useOf(view: ClusterView, { nodes, name }: SlurmPartition) {
  const use = {
    idle: 0,
    busy: 0,
    unavailable: 0,
    cpus: 0,
    cpusUsed: 0,
    gpus: 0,
    gpusUsed: 0,
    running: 0,
    pending: 0,
  };
  for (const node of namesOf(nodes)) {
    const row = view.feed.nodes.rows.get(node);
    if (row === undefined) continue;
    use.cpus += row.cpus;
    use.cpusUsed += row.cpusUsed;
    use.gpus += row.gpus;
    use.gpusUsed += row.gpusUsed;
    if (row.use === 'idle') use.idle += 1;
    else if (row.use === 'allocated' || row.use === 'mixed') use.busy += 1;
    else use.unavailable += 1;
  }
  for (const { partition, state } of view.feed.jobs.rows.values()) {
    if (!partition.split(',').includes(name)) continue;
    if (baseState(state) === 'RUNNING') use.running += 1;
    if (baseState(state) === 'PENDING') use.pending += 1;
  }
  return use;
}

function namesOf(hostlist: string): readonly string[] {
  try {
    return hostlist === '' ? [] : expandHostlist(hostlist);
  } catch {
    return [];
  }
}
