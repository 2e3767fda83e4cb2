/** The server of the dashboard, in parts that are put together by its program. */
export { clusterRoutes } from './api/cluster-routes.ts';
export { type ClusterView, type ClusterViews, NoSlurmToken } from './api/cluster-view.ts';
export { jobRoutes } from './api/job-routes.ts';
export { nodeRoutes } from './api/node-routes.ts';
export { ClusterFeed, type ClusterFeedOptions } from './feed/cluster-feed.ts';
export { DashboardServer, type DashboardServerOptions } from './http/dashboard-server.ts';
export { StaticFiles } from './http/static-files.ts';
export { WriteLimit } from './http/write-limit.ts';
export { Access } from './identity/access.ts';
export { Login } from './identity/login.ts';
export { Sessions } from './identity/sessions.ts';
export { largestJobs, layOutNodes, nodeAt } from './live/node-map.ts';
export { applied } from './live/versioned-table.ts';
export { FeedStreams } from './stream/feed-streams.ts';
