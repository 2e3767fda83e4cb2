/** Jobs: the list, one job, and what may be done with them. Who acts is the user; Slurm itself checks who owns a job. */
import { parseTimeLimit, type SlurmClient } from '@slurm-operator/slurm';
import { isBadQuery, queryJobs, readJobQuery } from '../feed/job-query.ts';
import { JobWindows } from '../feed/job-windows.ts';
import type { Answer, Asked, Route } from '../http/routes.ts';
import type { Access } from '../identity/access.ts';
import type { JobRow } from '../live/job-row.ts';
import { answerOf, bad, ok } from './answers.ts';
import { checkSubmission } from './check-submission.ts';
import { type ClusterView, type ClusterViews, hasAccounting } from './cluster-view.ts';
import { explainJob } from './explain-job.ts';
import { isBadField } from './read-input.ts';
import { readSubmission } from './submission.ts';

const base = '/api/clusters/:namespace/:cluster';
const mostJobsAtOnce = 200;
const keepJobMs = 1_000;
const keepRecordMs = 5_000;
const keepTemplatesMs = 15_000;
const jobId = /^\d{1,10}(_\d{1,7})?$/;

export function jobRoutes(views: ClusterViews, access: Access): readonly Route[] {
  const windows = new JobWindows();
  return [
    {
      method: 'GET',
      path: `${base}/jobs`,
      rights: ['see'],
      handle: (asked) => listJobs(views, access, windows, asked),
    },
    {
      method: 'GET',
      path: `${base}/jobs/:job`,
      rights: ['see'],
      handle: (asked) => oneJob(views, access, asked),
    },
    {
      method: 'GET',
      path: `${base}/jobs/:job/record`,
      rights: ['see'],
      handle: (asked) => jobRecord(views, access, asked),
    },
    {
      method: 'GET',
      path: `${base}/templates`,
      rights: ['see', 'submit'],
      handle: (asked) => jobTemplates(views, asked),
    },
    {
      method: 'POST',
      path: `${base}/jobs`,
      rights: ['see', 'submit'],
      handle: (asked) => submit(views, asked),
    },
    change(views, access, 'limit', (client, id, options, body) =>
      client.jobs.update(id, { timeLimit: String(body['timeLimit']) }, options),
    ),
    change(views, access, 'hold', (client, id, options) => client.jobs.hold(id, options)),
    change(views, access, 'release', (client, id, options) => client.jobs.release(id, options)),
    change(views, access, 'requeue', (client, id, options) => client.jobs.requeue(id, options)),
    {
      ...change(views, access, 'cancel', (client, id, options) => client.jobs.cancel(id, options)),
      rights: ['see', 'cancelJobs'],
    },
  ];
}

/** Who may not list all jobs sees their own. Who is no user of Slurm has none. */
async function visibleTo(view: ClusterView, access: Access, { session, cluster, signal }: Asked) {
  if (await access.may(session.user, 'seeAllJobs', cluster, signal)) return { all: true } as const;
  const identity = view.slurmIdentity(session);
  return { all: false, user: identity.kind === 'user' ? identity.name : undefined } as const;
}

async function listJobs(
  views: ClusterViews,
  access: Access,
  windows: JobWindows,
  asked: Asked,
): Promise<Answer> {
  const view = views.find(asked.cluster);
  if (view === undefined) return bad(404, 'This cluster has gone.');
  const query = readJobQuery(asked.query);
  if (isBadQuery(query)) return bad(400, query.message, query.field);
  const visible = await visibleTo(view, access, asked);
  const { version, rows } = view.feed.jobs;
  const own = visible.all ? undefined : (visible.user ?? '');
  const found =
    own === ''
      ? { rows: [], total: 0, states: {} }
      : windows.of(view.feed, version, JSON.stringify([query, own]), () =>
          queryJobs(rows.values(), query, own),
        );
  return ok({ version, ...found, onlyOwn: !visible.all, freshness: view.feed.freshness.jobs });
}

async function oneJob(views: ClusterViews, access: Access, asked: Asked): Promise<Answer> {
  const view = views.find(asked.cluster);
  const id = asked.parameters['job'] ?? '';
  if (view === undefined) return bad(404, 'This cluster has gone.');
  if (!jobId.test(id)) return bad(400, `"${id.slice(0, 20)}" is not the number of a job.`, 'job');
  const visible = await visibleTo(view, access, asked);
  return answerOf(`Job ${id}`, async () => {
    const job = await view.feed.shared.read(`job ${id}`, keepJobMs, (signal) =>
      view.reader.jobs.get(id, { signal }),
    );
    // A job of another user is as unknown as one that does not exist.
    if (job === undefined || (!visible.all && job.user !== visible.user))
      return bad(404, `Slurm does not know job ${id}. It forgets jobs some minutes after their end.`);
    const queue = [...view.feed.jobs.rows.values()];
    return ok({
      job,
      place: placeInQueue(queue, job.partition, job.priority ?? 0, job.state),
      why: await explainJob(view, job, visible.all, Date.now()),
    });
  });
}

/** A cluster without accounting, a job that it does not have yet, and one that this user may not see answer the same. */
const noRecord = { record: null, script: '' };

/** What accounting has of it: its steps, and its end when slurmctld no longer knows it. */
async function jobRecord(views: ClusterViews, access: Access, asked: Asked): Promise<Answer> {
  const view = views.find(asked.cluster);
  const id = asked.parameters['job'] ?? '';
  if (view === undefined) return bad(404, 'This cluster has gone.');
  if (!/^\d{1,10}$/.test(id)) return bad(400, `"${id.slice(0, 20)}" is not the number of a job.`, 'job');
  if (!hasAccounting(view)) return ok(noRecord);
  const visible = await visibleTo(view, access, asked);
  return answerOf(`Job ${id}`, async () => {
    const record = await view.feed.shared.read(`record ${id}`, keepRecordMs, (signal) =>
      view.reader.accounting.job(Number(id), { signal }),
    );
    if (record === undefined || (!visible.all && record.user !== visible.user)) return ok(noRecord);
    const { script, ...rest } = record;
    const identity = view.slurmIdentity(asked.session);
    // Scripts may hold secrets: a user who may see the jobs of others sees no scripts of theirs.
    const isOwn = identity.kind === 'user' && identity.name === record.user;
    return ok({ record: rest, script: isOwn ? script : '' });
  });
}

async function jobTemplates(views: ClusterViews, { cluster }: Asked): Promise<Answer> {
  const view = views.find(cluster);
  if (view === undefined) return bad(404, 'This cluster has gone.');
  const templates = await view.feed.shared.read('job templates', keepTemplatesMs, (signal) =>
    view.jobTemplates(signal),
  );
  return ok({ templates });
}

/** How many pending jobs of the partition are considered before it; `undefined` for a job that is not pending. */
export function placeInQueue(
  rows: readonly JobRow[],
  partition: string,
  priority: number,
  state: readonly string[],
): { readonly before: number; readonly pending: number } | undefined {
  if (!state.includes('PENDING')) return undefined;
  const pending = rows.filter(
    (row) => row.partition === partition && row.state.split('+').includes('PENDING'),
  );
  return { before: pending.filter((row) => row.priority > priority).length, pending: pending.length };
}

async function submit(views: ClusterViews, asked: Asked): Promise<Answer> {
  const view = views.find(asked.cluster);
  if (view === undefined) return bad(404, 'This cluster has gone.');
  const body = asked.body as Readonly<Record<string, unknown>>;
  const submission = readSubmission(body);
  if (isBadField(submission)) return bad(400, submission.message, submission.field);
  if (body['unchecked'] !== true) {
    const problem = await checkSubmission(view, submission, view.slurmIdentity(asked.session));
    // The page offers to send it all the same: the cluster may become another one while the job waits.
    if (problem !== undefined) return bad(409, problem.message, problem.field);
  }
  return answerOf('The job was not submitted', async () => {
    using as = await view.actAs(asked.session, 'jobs', asked.signal);
    const { id, message, warnings } = await as.client.jobs.submit(submission, { signal: asked.signal });
    return ok({ id, user: as.user, message, warnings });
  });
}

type Change = (
  client: SlurmClient,
  id: string,
  options: { readonly signal: AbortSignal },
  body: Readonly<Record<string, unknown>>,
) => Promise<{ readonly outcome: string }>;

/** Several at once, each with its own result: one that is refused must not hide that the others were changed. */
function change(views: ClusterViews, access: Access, action: string, apply: Change): Route {
  return {
    method: 'POST',
    path: `${base}/jobs/${action}`,
    rights: ['see', 'changeJobs'],
    handle: async ({ cluster, session, body, signal }) => {
      const view = views.find(cluster);
      if (view === undefined) return bad(404, 'This cluster has gone.');
      const ids = (body as { readonly ids?: unknown }).ids;
      if (!Array.isArray(ids) || ids.length === 0)
        return bad(400, 'ids must be a list of job numbers.', 'ids');
      if (ids.length > mostJobsAtOnce)
        return bad(400, `At most ${mostJobsAtOnce} jobs can be changed at once.`, 'ids');
      const wrong = ids.find((id) => typeof id !== 'string' || !jobId.test(id));
      if (wrong !== undefined)
        return bad(400, `"${String(wrong).slice(0, 20)}" is not the number of a job.`, 'ids');
      const limit = (body as { readonly timeLimit?: unknown }).timeLimit;
      if (action === 'limit' && !isTimeLimit(limit))
        return bad(400, 'timeLimit must be minutes or [days-]hours:minutes:seconds.', 'timeLimit');
      return answerOf(`Cannot ${action}`, async () => {
        using as = await view.actAs(session, 'jobs', signal);
        using _fast = view.feed.pollFast();
        const seesAll = await access.may(session.user, 'seeAllJobs', cluster, signal);
        const results: { id: string; done: boolean; message: string }[] = [];
        for (const id of ids as readonly string[]) {
          const { status, body: said } = await answerOf(`Job ${id}`, async () =>
            ok(await apply(as.client, id, { signal }, body as Readonly<Record<string, unknown>>)),
          );
          const { outcome = '', message = '' } = said as { outcome?: string; message?: string };
          const owner = outcome === 'gone' && seesAll ? otherOwner(view, id, as.user) : undefined;
          results.push({
            id,
            done: status === 200 && outcome === 'accepted',
            message:
              message ||
              (owner === undefined ? outcomeText(outcome) : `It is a job of ${owner}: Slurm refuses.`),
          });
        }
        return ok({ user: as.user, results });
      });
    },
  };
}

function isTimeLimit(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || value.length > 40) return false;
  try {
    parseTimeLimit(value);
    return true;
  } catch {
    return false;
  }
}

/** Slurm may answer the same for a job of another user and for one that it does not know. */
function otherOwner(view: ClusterView, id: string, user: string): string | undefined {
  const row = [...view.feed.jobs.rows.values()].find((one) => one.id === id || one.key === id);
  return row === undefined || row.user === user ? undefined : row.user;
}

function outcomeText(outcome: string): string {
  if (outcome === 'ended') return 'It had ended already.';
  if (outcome === 'gone') return 'Slurm does not know it any more.';
  return '';
}
