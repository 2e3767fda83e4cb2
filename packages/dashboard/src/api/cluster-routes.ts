/** Clusters, the overview of one, and what the user may do. */
import { diagnose, type EvidenceSet, forbidden, known, unknown } from '@slurm-operator/advice';
import type { Answer, Asked, Route } from '../http/routes.ts';
import type { Access } from '../identity/access.ts';
import { diffLines } from '../live/line-diff.ts';
import { type Right, rights } from '../live/rights.ts';
import { bad, ok } from './answers.ts';
import type { ClusterView, ClusterViews, ConfigFiles } from './cluster-view.ts';

const base = '/api/clusters/:namespace/:cluster';
const mostFindings = 50;
const mostEvents = 200;
const keepConfigurationMs = 10_000;

export interface ClusterRoutesOptions {
  readonly views: ClusterViews;
  readonly access: Access;
  readonly now: () => number;
}

export function clusterRoutes(options: ClusterRoutesOptions): readonly Route[] {
  return [
    { method: 'GET', path: '/api/clusters', rights: [], handle: (asked) => listClusters(options, asked) },
    { method: 'GET', path: '/api/me', rights: [], handle: (asked) => whoAmI(options, asked) },
    { method: 'GET', path: `${base}/overview`, rights: ['see'], handle: (asked) => overview(options, asked) },
    { method: 'GET', path: `${base}/live`, rights: ['see'], handle: (asked) => live(options, asked) },
    { method: 'GET', path: `${base}/timeline`, rights: ['see'], handle: (asked) => timeline(options, asked) },
    {
      method: 'GET',
      path: `${base}/configuration`,
      rights: ['see', 'seeConfiguration'],
      handle: (asked) => configuration(options, asked),
    },
  ];
}

/** A cluster that the user may not see is not in the list, and not in a number either. */
async function visibleViews({ views, access }: ClusterRoutesOptions, { session, signal }: Asked) {
  const all = views.list();
  const may = await Promise.all(all.map(({ ref }) => access.may(session.user, 'see', ref, signal)));
  return all.filter((_, at) => may[at] === true);
}

async function listClusters(options: ClusterRoutesOptions, asked: Asked): Promise<Answer> {
  const visible = await visibleViews(options, asked);
  return ok({ clusters: visible.map(summaryOf) });
}

function summaryOf(view: ClusterView) {
  const { cluster } = view.objects() ?? {};
  const ready = cluster?.status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    ...view.ref,
    ready: ready?.status ?? 'Unknown',
    message: ready?.status === 'True' ? '' : (ready?.message ?? ''),
    figures: view.feed.figures,
    freshness: view.feed.freshness,
  };
}

async function whoAmI(options: ClusterRoutesOptions, asked: Asked): Promise<Answer> {
  const { session, signal } = asked;
  const names = Object.keys(rights) as Right[];
  const clusters = await Promise.all(
    (await visibleViews(options, asked)).map(async (view) => ({
      ...view.ref,
      slurm: view.slurmIdentity(session),
      rights: Object.fromEntries(
        await Promise.all(
          names.map(
            async (right) =>
              [right, await options.access.may(session.user, right, view.ref, signal)] as const,
          ),
        ),
      ),
    })),
  );
  const { username, groups = [] } = session.user;
  return ok({ user: username, groups, expiresAt: session.expiresAt, clusters });
}

function overview({ views, now }: ClusterRoutesOptions, { cluster }: Asked): Answer {
  const view = views.find(cluster);
  if (view === undefined) return bad(404, 'This cluster has gone.');
  const { findings, unchecked } = diagnose(evidenceOf(view, now()), {
    now: now(),
    namespace: view.ref.namespace,
    cluster: view.ref.name,
    timeZone: 'UTC',
  });
  return ok({
    ...summaryOf(view),
    charts: view.feed.history.charts(),
    findings: findings.slice(0, mostFindings),
    unchecked: unchecked.map(({ evidence, why }) => ({ evidence, why })),
  });
}

/** What a stream begins with, for a browser that can have none. */
function live({ views }: ClusterRoutesOptions, { cluster }: Asked): Answer {
  const view = views.find(cluster);
  return view === undefined ? bad(404, 'This cluster has gone.') : ok(view.feed.live);
}

/** The caches' objects are read-only; the types of the rules, which only read, are not. */
const asRead = (objects: readonly object[]): never => objects as never;

/** What the caches have. The full list of jobs is too dear to be asked for here: rules about jobs run on the page of a job. */
export function evidenceOf(view: ClusterView, now: number): EvidenceSet {
  const objects = view.objects();
  if (objects === undefined) return { clusters: unknown('the objects of this cluster are not read yet') };
  const nodes = view.feed.slurmNodes;
  return {
    clusters: known(asRead([objects.cluster]), now),
    controllers: known(objects.controller === undefined ? [] : asRead([objects.controller]), now),
    nodeSets: known(asRead(objects.nodeSets), now),
    pods: known(asRead(objects.pods), now),
    events: known(asRead(objects.events), now),
    slurmNodes:
      nodes.kind === 'known' ? known([...nodes.nodes.values()], nodes.at) : unknown(nodes.why.message),
    logs: forbidden('get', 'pods/log'),
  };
}

/** Conditions and events of all objects, and changes of nodes, the newest first. */
interface TimelineEntry {
  readonly at: number;
}

function timeline({ views, now }: ClusterRoutesOptions, { cluster }: Asked): Answer {
  const view = views.find(cluster);
  const objects = view?.objects();
  if (view === undefined || objects === undefined)
    return bad(404, 'The objects of this cluster are not read yet.');
  const owners = [
    objects.cluster,
    ...(objects.controller === undefined ? [] : [objects.controller]),
    ...objects.nodeSets,
  ];
  const conditions = owners.flatMap(({ kind, metadata, status }) =>
    (status?.conditions ?? []).map(({ type, status: is, reason, message, lastTransitionTime }) => ({
      at: Date.parse(lastTransitionTime ?? '') || 0,
      object: `${kind ?? ''}/${metadata.name}`,
      what: `${type}=${is}`,
      kind: 'condition',
      reason: reason ?? '',
      message,
      warning: false,
    })),
  );
  const names = new Set([...owners, ...objects.pods].map(({ metadata }) => metadata.name));
  const events = objects.events
    .filter(({ regarding }) => names.has(regarding?.name ?? ''))
    .map(({ regarding, eventTime, metadata, type, reason = '', note = '' }) => ({
      at: Date.parse(eventTime ?? metadata.creationTimestamp ?? '') || 0,
      object: `${regarding?.kind ?? ''}/${regarding?.name ?? ''}`,
      what: reason,
      kind: 'event',
      reason,
      message: note,
      warning: type === 'Warning',
    }));
  const ofNodes = view.feed.nodeHistory.changes.map(({ at, from, to, reason, count, nodes }) => ({
    at,
    object: count === 1 ? `Node/${nodes}` : `${count} nodes`,
    what: to,
    kind: 'node',
    reason,
    message: `${count === 1 ? '' : `${nodes}: `}${from} to ${to}${reason === '' ? '' : `: ${reason}`}`,
    warning: ['down', 'unresponsive'].includes(to),
  }));
  const newest = (entries: readonly TimelineEntry[]) =>
    entries.toSorted((a, b) => b.at - a.at).slice(0, mostEvents);
  // Of each kind so many: a rack that fails must not hide what the operator did.
  const entries = [conditions, events, ofNodes].flatMap(newest).toSorted((a, b) => b.at - a.at);
  return ok({ now: now(), since: view.feed.startedAt, entries });
}

async function configuration({ views }: ClusterRoutesOptions, { cluster }: Asked): Promise<Answer> {
  const view = views.find(cluster);
  const objects = view?.objects();
  if (view === undefined || objects?.controller === undefined)
    return bad(404, 'The Controller of this cluster cannot be read.');
  const { spec, status } = objects.controller;
  const conditions = (status?.conditions ?? []).filter(
    ({ type }) => type.startsWith('Config') || type === 'Ready',
  );
  const files = await view.feed.shared.read('configuration', keepConfigurationMs, (signal) =>
    view.configFiles(signal),
  );
  const extraConf = spec.extraConf ?? '';
  return ok({
    conditions,
    extraConf,
    held: status?.heldConfig ?? null,
    refused: refusedFiles(files, conditions),
    files: Object.entries(files?.inForce ?? {}).map(([name, text]) => ({
      name,
      lines: linesOf(text, name === 'slurm.conf' ? extraConf : ''),
    })),
  });
}

/** What was tried and is not in force: how it differs, file by file. */
function refusedFiles(
  files: ConfigFiles | undefined,
  conditions: readonly { readonly type: string; readonly status: string }[],
) {
  const { inForce, tried } = files ?? {};
  const isApplied = conditions.some(({ type, status }) => type === 'ConfigApplied' && status === 'True');
  if (inForce === undefined || tried === undefined || isApplied) return [];
  return Object.keys(inForce).flatMap((name) => {
    const text = tried[name];
    const lines = text === undefined ? [] : diffLines(inForce[name] ?? '', text);
    return lines.length === 0 ? [] : [{ name, lines }];
  });
}

/** Each line of a file, and whether a person wrote it: in `extraConf`. Everything else is the operator's. */
export function linesOf(text: string, extraConf: string) {
  const own = new Set(
    extraConf
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  );
  return text
    .trimEnd()
    .split('\n')
    .map((line) => ({ text: line, isOwn: own.has(line.trim()) }));
}
