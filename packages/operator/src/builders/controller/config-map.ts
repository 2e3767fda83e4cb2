/** The ConfigMap with slurm.conf and its companions. */
import { type Controller, resourceName } from '@slurm-operator/api';
import type { ConfigMap } from '@slurm-operator/kube';
import { builtMeta } from '../object-meta.ts';
import type { Read } from '../read.ts';

export interface ConfigInput {
  readonly controller: Read<Controller>;
  readonly slurmConf: string;
  /** Whether one of the user's files is called cgroup.conf. */
  readonly userCgroupConf: boolean;
}

/** Finds out the version of cgroups by itself; there is no systemd in the pod to ask. */
const cgroupConf = 'CgroupPlugin=autodetect\nIgnoreSystemd=yes\n';

/** Names the configuration in the volume, so that a pod can tell when all of it has arrived. */
export const versionFile = '.config-version';

/** The same ConfigMap, saying which configuration it belongs to. */
export function withVersion(config: ConfigMap, version: string): ConfigMap {
  return { ...config, data: { ...config.data, [versionFile]: version } };
}

export function buildControllerConfig({ controller, slurmConf, userCgroupConf }: ConfigInput): ConfigMap {
  const { name } = controller.metadata;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: builtMeta(resourceName.config(name), 'controller', controller, name),
    data: {
      'slurm.conf': slurmConf,
      ...(userCgroupConf || controller.spec.external ? {} : { 'cgroup.conf': cgroupConf }),
    },
  };
}
