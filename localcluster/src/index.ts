/** A Kubernetes-like cluster on one machine, as a library. */
export {
  type ClusterRecord,
  findCluster,
  listClusters,
  stateDirectory,
} from './cluster/cluster-directory.ts';
export { down, order, up } from './cluster/control.ts';

export {
  type LocalCluster,
  type LocalClusterOptions,
  startLocalCluster,
} from './cluster/start-local-cluster.ts';
export { explain } from './errors.ts';
export { findKubectl } from './machine/toolbox.ts';
