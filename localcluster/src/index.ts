/** A Kubernetes-like cluster on one machine, as a library. */
export { type NodeState } from './cluster/node.ts';
export {
  type LocalCluster,
  type LocalClusterOptions,
  startLocalCluster,
} from './cluster/start-local-cluster.ts';
export { explain, LocalClusterError, type LocalClusterErrorCode } from './errors.ts';
