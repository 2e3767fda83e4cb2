/** A Kubernetes-like cluster on one machine, as a library. */
export {
  type ClusterRecord,
  findCluster,
  listClusters,
  stateDirectory,
} from './cluster/cluster-directory.ts';
export { down, order, type UpOptions, up } from './cluster/control.ts';
export type { ClusterNode, NodeState } from './cluster/node.ts';
export {
  type LocalCluster,
  type LocalClusterOptions,
  startLocalCluster,
} from './cluster/start-local-cluster.ts';
export { explain, LocalClusterError, type LocalClusterErrorCode } from './errors.ts';
export { findKubectl } from './machine/toolbox.ts';
