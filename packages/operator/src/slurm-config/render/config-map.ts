/** The ConfigMap with slurm.conf and its companions. */
import { hash } from 'node:crypto';
import { type Controller, type NodeSet, resourceName } from '@slurm-operator/api';
import type { ConfigMap } from '@slurm-operator/kube';
import { builtMeta } from '../../objects/object-meta.ts';
import type { Read } from '../../objects/read.ts';
import { topLevelSettings } from '../parse.ts';
import { longestWait, waitForNodes, waitForNodesFile } from './wait-for-nodes.ts';

export interface ConfigInput {
  readonly controller: Read<Controller>;
  readonly slurmConf: string;
  /** Whether that slurm.conf names a slurmdbd. */
  readonly accounting: boolean;
  /** Whether one of the user's files is called cgroup.conf. */
  readonly userCgroupConf: boolean;
  /** Slurm's name of a set in that slurm.conf → the NodeSet that it comes from. */
  readonly nodeSets?: Readonly<Record<string, string>>;
  /** What the names of autoscaled Slurm nodes begin with. */
  readonly autoscaled?: readonly string[];
}

/** Detects the version of cgroups; there is no systemd in the pod. */
const cgroupConf = 'CgroupPlugin=autodetect\nIgnoreSystemd=yes\n';

/**
 * On a ConfigMap whose slurm.conf names no slurmdbd. It says what is not there, so that one of an older version of the operator, which says
 * nothing, is never taken for one without accounting.
 */
export const withoutAccountingAnnotation = 'slinky.slurm.net/without-accounting';

/** On the ConfigMap: MaxNodeCount of its slurm.conf. */
export const maxNodeCountAnnotation = 'controller.slinky.slurm.net/max-node-count';
/** On the ConfigMap: its slurm.conf lets slurmctld wake nodes. */
export const powerSavingAnnotation = 'controller.slinky.slurm.net/power-saving';

/** On the ConfigMap: the NodeSets that have lines in its slurm.conf, as JSON, by their names in Slurm. A NodeSet goes after its lines. */
export const nodeSetsAnnotation = 'controller.slinky.slurm.net/nodesets';

/** Names the configuration in the volume, so that a pod can tell when all of it has arrived. */
export const versionFile = '.config-version';

/** A digest of the site's own files that belong to the configuration in this ConfigMap. */
export const filesDigestAnnotation = 'slinky.slurm.net/config-files-digest';

/** A digest of the slurm.conf that the operator wrote: with another text someone else has edited it. */
export const confDigestAnnotation = 'slinky.slurm.net/slurm-conf-digest';

/** The ConfigMaps whose keys become files, each once, in the order of their names. */
export function referencedConfigMaps({ spec }: Read<Controller>): string[] {
  const lists = [
    spec.configFileRefs,
    spec.prologScriptRefs,
    spec.epilogScriptRefs,
    spec.prologSlurmctldScriptRefs,
    spec.epilogSlurmctldScriptRefs,
  ];
  return [...new Set(lists.flatMap((list) => list ?? []).map(({ name }) => name))].toSorted();
}

/** The same ConfigMap, saying which configuration it belongs to. */
export function withVersion(config: ConfigMap, version: string, files: string | undefined): ConfigMap {
  const { metadata } = config;
  const digest: Record<string, string> = files === undefined ? {} : { [filesDigestAnnotation]: files };
  return {
    ...config,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...digest } },
    data: { ...config.data, [versionFile]: version },
  };
}

export function buildControllerConfig({
  controller,
  slurmConf,
  accounting,
  userCgroupConf,
  nodeSets = {},
  autoscaled = [],
}: ConfigInput): ConfigMap {
  const { name } = controller.metadata;
  const metadata = builtMeta(resourceName.config(name), 'controller', controller, name);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        ...(accounting ? {} : { [withoutAccountingAnnotation]: 'true' }),
        [confDigestAnnotation]: hash('sha256', slurmConf),
        [nodeSetsAnnotation]: JSON.stringify(sorted(nodeSets)),
        ...maxNodeCountOf(slurmConf),
        ...powerSavingOf(slurmConf),
      },
    },
    data: {
      'slurm.conf': slurmConf,
      ...(userCgroupConf || controller.spec.external ? {} : { 'cgroup.conf': cgroupConf }),
      // As long as a slurm.conf in force names it.
      ...(slurmConf.includes(`/etc/slurm/${waitForNodesFile}`)
        ? { [waitForNodesFile]: waitForNodes(autoscaled, longestWait(slurmConf)) }
        : {}),
    },
  };
}

/** Published for NodeSets: a worker that does not fit must not register while slurmctld still has a larger table. */
function maxNodeCountOf(slurmConf: string): Record<string, string> {
  const value = topLevelSettings(slurmConf).get('maxnodecount')?.value;
  return value === undefined ? {} : { [maxNodeCountAnnotation]: value };
}

/** The same: sleeping nodes are created when this slurm.conf can wake them. */
function powerSavingOf(slurmConf: string): Record<string, string> {
  return topLevelSettings(slurmConf).has('resumeprogram') ? { [powerSavingAnnotation]: 'true' } : {};
}

const sorted = (record: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));

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
