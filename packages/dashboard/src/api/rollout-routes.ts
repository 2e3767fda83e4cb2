/** Rollouts of NodeSets: how far they are, and the brake. */
import type { Answer, Asked, Route } from '../http/routes.ts';
import type { Access } from '../identity/access.ts';
import { answerOf, bad, ok } from './answers.ts';
import type { ClusterView, ClusterViews, RolloutPlan } from './cluster-view.ts';
import { isBadField, textField } from './read-input.ts';

const base = '/api/clusters/:namespace/:cluster';
/** Longer than a page asks again. */
const keepPlanMs = 10_000;
const dnsName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export function rolloutRoutes(views: ClusterViews, access: Access): readonly Route[] {
  return [
    {
      method: 'GET',
      path: `${base}/rollouts`,
      rights: ['see'],
      handle: (asked) => rollouts(views, access, asked),
    },
    brake(views, 'pause'),
    brake(views, 'resume'),
  ];
}

async function rollouts(
  views: ClusterViews,
  access: Access,
  { cluster, session, signal }: Asked,
): Promise<Answer> {
  const view = views.find(cluster);
  const objects = view?.objects();
  const seesAll = await access.may(session.user, 'seeAllJobs', cluster, signal);
  if (view === undefined || objects === undefined)
    return bad(404, 'The objects of this cluster are not read yet.');
  const nodeSets = await Promise.all(
    objects.nodeSets.map(async ({ metadata, spec, status }) => ({
      name: metadata.name,
      replicas: status?.desired ?? spec.replicas ?? null,
      ready: status?.readyReplicas ?? 0,
      updated: status?.updatedReplicas ?? 0,
      total: status?.replicas ?? 0,
      paused: spec.updateStrategy?.rollingUpdate?.paused ?? false,
      maxUnavailable: spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? null,
      plan: shownTo(seesAll, await planOf(view, metadata)),
      /** The operator has not yet seen the newest specification. */
      isNew: (status?.observedGeneration ?? 0) < (metadata.generation ?? 0),
      conditions: (status?.conditions ?? []).map(({ type, status: is, reason, message }) => ({
        type,
        status: is,
        reason: reason ?? '',
        message,
      })),
    })),
  );
  return ok({ nodeSets });
}

/** A simulation: made once for all who look, and again at once when the NodeSet changes. */
function planOf(
  view: ClusterView,
  { name, generation = 0 }: { readonly name: string; readonly generation?: number },
): Promise<RolloutPlan | undefined> {
  return view.feed.shared.read(`plan ${name} ${generation}`, keepPlanMs, (signal) =>
    view.planRollout(name, signal),
  );
}

/** Whose jobs it waits for is for those who may see them. */
function shownTo(seesAll: boolean, plan: RolloutPlan | undefined): RolloutPlan | undefined {
  if (plan === undefined || seesAll) return plan;
  return { ...plan, lastJob: undefined, endless: plan.endless.map(() => ({ id: '', user: '' })) };
}

function brake(views: ClusterViews, action: 'pause' | 'resume'): Route {
  return {
    method: 'POST',
    path: `${base}/rollouts/${action}`,
    rights: ['see', 'changeRollouts'],
    handle: async ({ cluster, session, body, signal }) => {
      const view = views.find(cluster);
      if (view === undefined) return bad(404, 'This cluster has gone.');
      const name = textField(body as Readonly<Record<string, unknown>>, 'nodeSet', {
        pattern: dnsName,
        required: true,
      });
      if (isBadField(name)) return bad(400, name.message, name.field);
      const known = view.objects()?.nodeSets.some(({ metadata }) => metadata.name === name);
      if (name === undefined || known !== true)
        return bad(404, `Cluster ${cluster.name} has no NodeSet ${name ?? ''}.`);
      return answerOf(`Cannot ${action}`, async () => {
        await view.pauseRollout(session, name, action === 'pause', signal);
        return ok({ results: [{ id: name, done: true, message: '' }] });
      });
    },
  };
}
