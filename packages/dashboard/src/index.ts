/** The server of the dashboard, in parts that are put together by its program. */
export { ClusterFeed, type ClusterFeedOptions, type FeedEvent, type Freshness } from './feed/cluster-feed.ts';
export { endedCookie, readSessionCookie, sessionCookie } from './http/cookie.ts';
export { type Answer, type Asked, matchRoute, type Route } from './http/routes.ts';
export { contentTypeRefusal, crossSiteRefusal, hostRefusal } from './http/same-origin.ts';
export { securityHeaders } from './http/security-headers.ts';
export { Access, type AccessOptions, type Right, rights } from './identity/access.ts';
export { type Session, Sessions } from './identity/sessions.ts';
export { isBadQuery, queryJobs, readJobQuery } from './live/job-query.ts';
export { largestJobs, layOutNodes, nodeAt } from './live/node-map.ts';
export { EventStreams, serverEvent } from './stream/event-stream.ts';
