/** Rollouts of NodeSets: how far they are, and the brake. */
import type { Answer, Asked, Route } from '../http/routes.ts';
import { answerOf, bad, ok } from './answers.ts';
import type { ClusterViews } from './cluster-view.ts';
import { isBadField, textField } from './read-input.ts';

const base = '/api/clusters/:namespace/:cluster';
const dnsName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export function rolloutRoutes(views: ClusterViews): readonly Route[] {
  return [
    { method: 'GET', path: `${base}/rollouts`, rights: ['see'], handle: (asked) => rollouts(views, asked) },
    brake(views, 'pause'),
    brake(views, 'resume'),
  ];
}

function rollouts(views: ClusterViews, { cluster }: Asked): Answer {
  const objects = views.find(cluster)?.objects();
  if (objects === undefined) return bad(404, 'The objects of this cluster are not read yet.');
  return ok({
    nodeSets: objects.nodeSets.map(({ metadata, spec, status }) => ({
      name: metadata.name,
      replicas: status?.desired ?? spec.replicas ?? null,
      ready: status?.readyReplicas ?? 0,
      updated: status?.updatedReplicas ?? 0,
      total: status?.replicas ?? 0,
      paused: spec.updateStrategy?.rollingUpdate?.paused ?? false,
      maxUnavailable: spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? null,
      /** The operator has not yet seen the newest specification. */
      isNew: (status?.observedGeneration ?? 0) < (metadata.generation ?? 0),
      conditions: (status?.conditions ?? []).map(({ type, status: is, reason, message }) => ({
        type,
        status: is,
        reason: reason ?? '',
        message,
      })),
    })),
  });
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
