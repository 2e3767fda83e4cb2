/** Nodes: the whole table once, then deltas by the stream; one node with what runs there; drain and resume. */
import { label } from '@slurm-operator/api';
import { cleanReason, expandHostlist } from '@slurm-operator/slurm';
import type { ClusterFeed } from '../feed/cluster-feed.ts';
import { PreparedJson } from '../http/prepared-json.ts';
import type { Answer, Asked, Route } from '../http/routes.ts';
import { baseState } from '../live/job-row.ts';
import { answerOf, bad, ok } from './answers.ts';
import type { ClusterView, ClusterViews } from './cluster-view.ts';
import { isBadField, textField } from './read-input.ts';

const base = '/api/clusters/:namespace/:cluster';
const mostNodesAtOnce = 500;
const nodeName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;

export function nodeRoutes(views: ClusterViews): readonly Route[] {
  const tables = new WeakMap<ClusterFeed, { readonly version: number; readonly body: PreparedJson }>();
  return [
    {
      method: 'GET',
      path: `${base}/nodes`,
      rights: ['see'],
      handle: (asked) => allNodes(views, tables, asked),
    },
    { method: 'GET', path: `${base}/nodes/:node`, rights: ['see'], handle: (asked) => oneNode(views, asked) },
    changeNodes(views, 'drain'),
    changeNodes(views, 'resume'),
  ];
}

/** How old the rows are is not part of it: that changes while they do not, and comes with `live`. */
function allNodes(
  views: ClusterViews,
  tables: WeakMap<ClusterFeed, { readonly version: number; readonly body: PreparedJson }>,
  { cluster, ifNoneMatch }: Asked,
): Answer {
  const view = views.find(cluster);
  if (view === undefined) return bad(404, 'This cluster has gone.');
  const { version, rows } = view.feed.nodes;
  const etag = `"${version}"`;
  if (ifNoneMatch === etag) return { status: 304, body: undefined, etag };
  let table = tables.get(view.feed);
  if (table?.version !== version) {
    table = { version, body: new PreparedJson({ version, rows: [...rows.values()] }) };
    tables.set(view.feed, table);
  }
  return { status: 200, etag, body: table.body };
}

function oneNode(views: ClusterViews, { cluster, parameters }: Asked): Answer {
  const view = views.find(cluster);
  const name = parameters['node'] ?? '';
  const row = view?.feed.nodes.rows.get(name);
  if (view === undefined || row === undefined) return bad(404, `Slurm lists no node ${name}.`);
  // Names of users and jobs are not part of this: they are in the list of jobs, filtered by node, for those who may see them.
  const running = [...view.feed.jobs.rows.values()].filter(
    ({ state, nodes }) => ['RUNNING', 'SUSPENDED'].includes(baseState(state)) && contains(nodes, name),
  );
  return ok({
    row,
    jobs: running.length,
    worker: workerOf(view, name),
    events: eventsOf(view, name),
    freshness: view.feed.freshness.nodes,
  });
}

const mostEvents = 20;

/** Of its pod and of the Kubernetes node under it, the newest first. */
function eventsOf(view: ClusterView, name: string) {
  const worker = workerOf(view, name);
  const names = new Set(
    [name, worker?.pod, worker?.machine].filter((one) => one !== undefined && one !== ''),
  );
  return (view.objects()?.events ?? [])
    .filter(({ regarding }) => names.has(regarding?.name ?? ''))
    .map(({ eventTime, metadata, type, reason = '', note = '' }) => ({
      at: Date.parse(eventTime ?? metadata.creationTimestamp ?? '') || 0,
      reason,
      note,
      warning: type === 'Warning',
    }))
    .toSorted((a, b) => b.at - a.at)
    .slice(0, mostEvents);
}

function contains(hostlist: string, node: string): boolean {
  if (hostlist === '') return false;
  try {
    return expandHostlist(hostlist).includes(node);
  } catch {
    return false;
  }
}

/** The pod that runs its slurmd, if the operator runs it. */
function workerOf(view: ClusterView, node: string) {
  const pod = view
    .objects()
    ?.pods.find(({ metadata }) => (metadata.labels?.[label.podHostname] ?? metadata.name) === node);
  if (pod === undefined) return undefined;
  return {
    pod: pod.metadata.name,
    machine: pod.spec?.nodeName ?? '',
    phase: pod.status?.phase ?? '',
    conditions: (pod.status?.conditions ?? []).map(({ type, status, reason = '', message = '' }) => ({
      type,
      status,
      reason,
      message,
    })),
  };
}

function changeNodes(views: ClusterViews, action: 'drain' | 'resume'): Route {
  return {
    method: 'POST',
    path: `${base}/nodes/${action}`,
    rights: ['see', 'changeNodes'],
    handle: async ({ cluster, session, body, signal }) => {
      const view = views.find(cluster);
      if (view === undefined) return bad(404, 'This cluster has gone.');
      const fields = body as Readonly<Record<string, unknown>>;
      const { nodes } = fields;
      if (!Array.isArray(nodes) || nodes.length === 0)
        return bad(400, 'nodes must be a list of names.', 'nodes');
      if (nodes.length > mostNodesAtOnce)
        return bad(400, `At most ${mostNodesAtOnce} nodes can be changed at once.`, 'nodes');
      const wrong = nodes.find((name) => typeof name !== 'string' || !nodeName.test(name));
      if (wrong !== undefined)
        return bad(400, `"${String(wrong).slice(0, 40)}" is not the name of a node.`, 'nodes');
      const written = textField(fields, 'reason', { most: 200, required: action === 'drain' });
      if (isBadField(written)) return bad(400, written.message, written.field);
      const reason = cleanReason(written ?? '');
      if (action === 'drain' && reason === '') return bad(400, 'reason is missing.', 'reason');
      if (reason.startsWith('slurm-operator:'))
        return bad(
          400,
          'A reason that begins with slurm-operator: belongs to the operator, which would end the drain.',
          'reason',
        );
      return answerOf(`Cannot ${action}`, async () => {
        using as = await view.actAs(session, 'nodes', signal);
        using _fast = view.feed.pollFast();
        // Slurm writes down who the token is for; the person is named in the reason.
        const identity = view.slurmIdentity(session);
        const person = identity.kind === 'user' ? identity.name : session.user.username;
        const because = cleanReason(`${reason} (${person})`);
        const results: { id: string; done: boolean; message: string }[] = [];
        for (const name of nodes as readonly string[]) {
          const { status, body: said } = await answerOf(name, async () =>
            ok(
              action === 'drain'
                ? await as.client.nodes.drain(name, because, { signal })
                : await as.client.nodes.undrain(name, { signal }),
            ),
          );
          const { outcome = '', message = '' } = said as { outcome?: string; message?: string };
          const text = outcome === 'gone' ? 'Slurm does not know it any more.' : message;
          results.push({ id: name, done: status === 200 && outcome === 'accepted', message: text });
        }
        return ok({ results });
      });
    },
  };
}
