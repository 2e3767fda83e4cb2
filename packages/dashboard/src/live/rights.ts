/** What a page or an action needs. All are rights on the Cluster, most on virtual subresources that exist for RBAC only. */
export const rights = {
  see: { resource: 'clusters', verb: 'get' },
  seeAllJobs: { resource: 'clusters', subresource: 'jobs', verb: 'list' },
  submit: { resource: 'clusters', subresource: 'jobs', verb: 'create' },
  changeJobs: { resource: 'clusters', subresource: 'jobs', verb: 'update' },
  cancelJobs: { resource: 'clusters', subresource: 'jobs', verb: 'delete' },
  changeNodes: { resource: 'clusters', subresource: 'nodes', verb: 'update' },
  seeConfiguration: { resource: 'controllers', verb: 'get' },
  changeRollouts: { resource: 'nodesets', verb: 'patch' },
} as const;
export type Right = keyof typeof rights;
