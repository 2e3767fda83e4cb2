/** Puts the server together: routes and streams over the clusters that the program gives it. */
import type { Clock } from '@slurm-operator/slurm';
import { clusterRoutes } from './api/cluster-routes.ts';
import type { ClusterViews } from './api/cluster-view.ts';
import { jobRoutes } from './api/job-routes.ts';
import { limitRoutes } from './api/limit-routes.ts';
import { nodeRoutes } from './api/node-routes.ts';
import { rolloutRoutes } from './api/rollout-routes.ts';
import { DashboardServer, type DashboardServerOptions } from './http/dashboard-server.ts';
import { WriteLimit } from './http/write-limit.ts';
import { FeedStreams } from './stream/feed-streams.ts';

type Given = Pick<
  DashboardServerOptions,
  'hosts' | 'secure' | 'sessions' | 'access' | 'login' | 'files' | 'audit' | 'onError' | 'idleTimeoutMs'
>;

export interface AssembleOptions extends Given {
  readonly views: ClusterViews;
  readonly clock: Clock;
}

export interface Dashboard extends AsyncDisposable {
  readonly server: DashboardServer;
  readonly streams: FeedStreams;
}

export function assembleDashboard({ views, clock, ...given }: AssembleOptions): Dashboard {
  const streams = new FeedStreams({ clock, views });
  const server = new DashboardServer({
    ...given,
    routes: [
      ...clusterRoutes({ views, access: given.access, now: () => clock.now() }),
      ...nodeRoutes(views),
      ...jobRoutes(views, given.access),
      ...rolloutRoutes(views, given.access),
      ...limitRoutes(views),
    ],
    openStream: (cluster, owner, response) => streams.open(cluster, owner, response),
    onLogout: (session) => streams.endOf(session.user.username),
    writeLimit: new WriteLimit({ clock }),
    hasCluster: (cluster) => views.find(cluster) !== undefined,
  });
  return {
    server,
    streams,
    async [Symbol.asyncDispose]() {
      streams[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
