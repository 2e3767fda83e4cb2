/** Sleeping nodes that the side container of slurmctld creates with scontrol: Slurm before 25.11 cannot create them over REST. */
import type { NodeSet } from '@slurm-operator/api';
import type { ConfigMap } from '@slurm-operator/kube';
import type { Read } from '../../objects/read.ts';

/** Beside slurm.conf, and no part of the configuration: slurmctld does not read it. */
export const recordsFile = '.autoscale-nodes';

/** Words of a line of slurm.conf, so that nothing else reaches the shell of the side container. */
const safe = /^NodeName=[A-Za-z0-9._,[\]-]+( [A-Za-z]+=[A-Za-z0-9._,:()/-]+)* State=CLOUD$/;

export function recordLines(nodeSets: readonly Read<NodeSet>[]): string[] {
  return nodeSets
    .flatMap(({ spec, status }) =>
      spec.autoscale === undefined ? [] : (status?.autoscale?.recordsToCreate ?? []),
    )
    .filter((line) => safe.test(line))
    .toSorted();
}

export function withRecords(config: ConfigMap, lines: readonly string[]): ConfigMap {
  if (lines.length === 0) return config;
  return { ...config, data: { ...config.data, [recordsFile]: `${lines.join('\n')}\n` } };
}
