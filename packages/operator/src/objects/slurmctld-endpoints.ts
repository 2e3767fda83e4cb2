import { type Controller, derivedClusterName, port, resourceName } from '@slurm-operator/api';
import type { Read } from './read.ts';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Where slurmctld is to listen, inside its pod and in front of it alike: Slurm knows one port only. */
export const wantedSlurmctldPort = ({ spec }: Read<Controller>): number =>
  (spec.external ? spec.externalConfig?.port : spec.service?.port) || port.slurmctld;

/** Where it listens: a new port waits until no job would be lost, and everything but slurm.conf itself follows the one in force. */
export const slurmctldPort = (controller: Read<Controller>): number =>
  (controller.spec.external ? undefined : controller.status?.slurmctldPort) ||
  wantedSlurmctldPort(controller);

/** How many slurmctld a Controller runs: the primary and its backups. */
export function controllerReplicas(controller: Read<Controller>): number {
  const { external, ha } = controller.spec;
  return !external && ha?.enabled ? 1 + ha.backups : 1;
}

/**
 * Where the slurmctld of a Controller listen, primary first. Each pod has a ClusterIP Service of its own name: a headless name would
 * vanish with its pod, and Slurm waits ten seconds on a name that does not resolve.
 */
export function slurmctldEndpoints(controller: Read<Controller>): Endpoint[] {
  const { name, namespace } = controller.metadata;
  const { external, externalConfig } = controller.spec;
  if (external)
    return externalConfig === undefined ? [] : [{ host: externalConfig.host, port: externalConfig.port }];
  return Array.from({ length: controllerReplicas(controller) }, (_, ordinal) => ({
    host: `${resourceName.controllerPod(name, ordinal)}.${namespace}`,
    port: slurmctldPort(controller),
  }));
}

/** ClusterName of Slurm: as given, else `<namespace>_<name>`. */
export function clusterNameOf({ metadata, spec }: Read<Controller>): string {
  return spec.clusterName ?? derivedClusterName(metadata.namespace, metadata.name);
}
