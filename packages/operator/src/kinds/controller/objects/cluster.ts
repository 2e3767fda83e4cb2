/** The Cluster object that a Controller owns: the connection to its Slurm. */
import { apiVersion, type Cluster, type Controller, resourceName } from '@slurm-operator/api';
import type { ApplyIntent } from '@slurm-operator/kube';
import { builtMeta } from '../../../objects/object-meta.ts';
import type { Read } from '../../../objects/read.ts';

export function buildCluster(controller: Read<Controller>): ApplyIntent<Cluster> {
  const { name } = controller.metadata;
  return {
    apiVersion,
    kind: 'Cluster',
    metadata: builtMeta(resourceName.cluster(name), 'controller', controller, name),
    spec: { controllerRef: { name } },
  };
}
