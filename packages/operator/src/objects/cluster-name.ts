import { type Controller, derivedClusterName } from '@slurm-operator/api';
import type { Read } from './read.ts';

/** ClusterName of Slurm: as given, else `<namespace>_<name>`. */
export function clusterNameOf({ metadata, spec }: Read<Controller>): string {
  return spec.clusterName ?? derivedClusterName(metadata.namespace, metadata.name);
}
