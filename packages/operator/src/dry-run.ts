/**
 * What `kubectl slurm plan` and `diff` need of the operator: its own observation, plan, slurm.conf and guard, from objects that were read
 * once. Reads and writes nothing, and knows no Secret.
 */
import { type Controller, type NodeSet, resourceName } from '@slurm-operator/api';
import type {
  AnyResource,
  Cache,
  ConfigMap,
  KubeObject,
  Live,
  ObjectRef,
  Resource,
} from '@slurm-operator/kube';
import type { SlurmJob, SlurmNode, SlurmPartition } from '@slurm-operator/slurm';
import { observeController } from './kinds/controller/observe.ts';
import { desiredSlurmConf } from './kinds/controller/plan/render.ts';
import type { Observed } from './kinds/nodeset/model/observed.ts';
import { observeFacts } from './kinds/nodeset/observe/observe-facts.ts';
import { emptyMemory } from './kinds/nodeset/plan/memory.ts';
import { readConf, valueOf } from './slurm-config/guard/conf-content.ts';
import { guardConfig } from './slurm-config/guard/guard-config.ts';
import type { Hold } from './slurm-config/guard/hold.ts';
import { workOf } from './slurm-config/guard/slurm-work.ts';
import { buildControllerConfig, referencedConfigMaps } from './slurm-config/render/config-map.ts';
import { buildManualTrial } from './slurm-config/trial/manual-trial.ts';
import type { NodesView } from './slurm-connection/slurm-gateway.ts';

export { revisionHash } from './kinds/nodeset/objects/revision.ts';
export { wantedWindow } from './kinds/nodeset/plan/maintenance-window.ts';
export { isRecurring } from './kinds/nodeset/plan/reservation.ts';
export { type Forecast, type ForecastJob, forecast } from './kinds/nodeset/simulate/forecast.ts';
export type { Simulation } from './kinds/nodeset/simulate/simulate.ts';
export type { Durations } from './kinds/nodeset/simulate/virtual-world.ts';
export { readManualTrial } from './slurm-config/trial/manual-trial.ts';
export type { NodesView } from './slurm-connection/slurm-gateway.ts';
export type { Observed };

/** The objects of a namespace and the Kubernetes Nodes, by the plural of their kind. What is left out counts as absent. */
export type ReadObjects = Readonly<Record<string, readonly Live[]>>;

export interface ObserveOptions {
  readonly nodeSet: NodeSet;
  readonly objects: ReadObjects;
  readonly slurm: NodesView;
  /** The release of slurmctld, such as 26.05.5. */
  readonly release?: string | undefined;
  readonly now: number;
}

/** A NodeSet as its plan sees it. Secrets are never read: a changed key replaces no worker. */
export function observeNodeSet({ nodeSet, objects, slurm, release, now }: ObserveOptions): Observed {
  return observeFacts(
    nodeSet,
    slurm,
    emptyMemory,
    { cache: readOnly(objects), propagatedConditions: [], release, specProblems: [] },
    now,
  );
}

export interface TryOptions {
  readonly controller: Live<Controller>;
  /** As they would be after the change, with the ConfigMaps that the Controller names. */
  readonly objects: ReadObjects;
  /** The image of slurmctld. */
  readonly image: string;
  readonly suffix: string;
}

/** A pod and a ConfigMap in which slurmctld tries the desired configuration; undefined where it cannot be rendered. */
export function configTrial({ controller, objects, image, suffix }: TryOptions) {
  const defaults = { ...noImages, images: { ...noImages.images, slurmctld: image } };
  const observed = observeController(readOnly(objects), controller);
  const slurmConf = desiredSlurmConf(observed, defaults);
  if (slurmConf === undefined) return undefined;
  const files = observed.configMaps.map(({ name, keys }) => ({ name, keys: keys && Object.keys(keys) }));
  const config = buildControllerConfig({
    controller,
    slurmConf,
    accounting: observed.accounting !== undefined,
    userCgroupConf: files.some(({ keys }) => keys?.includes('cgroup.conf')),
  });
  return buildManualTrial({ controller, defaults, files, config, suffix });
}

/** Names of ConfigMaps whose files belong to the configuration. */
export const configFilesOf = (controller: Live<Controller>): readonly string[] =>
  referencedConfigMaps(controller);

/** Names of images and the domain of the cluster are the same on both sides of a comparison, so they do not matter there. */
const noImages = {
  clusterDomain: 'cluster.local',
  keyStepPeriod: 0,
  images: { slurmctld: '', slurmd: '', slurmdbd: '', slurmrestd: '', login: '' },
};

export interface ConfigChange {
  /** As the specification asks for it now, and would ask for it; undefined where it cannot be rendered. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** What the guard would hold back, because jobs need it. */
  readonly holds: readonly Pick<Hold, 'kind' | 'name' | 'cause' | 'message'>[];
  /** Partition → MaxTime before and after, where it changes. */
  readonly maxTimes: readonly {
    readonly partition: string;
    readonly from: string | undefined;
    readonly to: string | undefined;
  }[];
}

export interface ConfigChangeOptions {
  readonly controller: { readonly before: Live<Controller>; readonly after: Live<Controller> };
  /** With the NodeSets and other objects as they are, and as they would be. */
  readonly objects: { readonly before: ReadObjects; readonly after: ReadObjects };
  readonly slurm:
    | {
        readonly kind: 'known';
        readonly partitions: readonly SlurmPartition[];
        readonly nodes: readonly SlurmNode[];
        readonly jobs: readonly SlurmJob[];
      }
    | { readonly kind: 'unknown'; readonly why: string };
}

/** What a change of a Controller or of its NodeSets does to slurm.conf. */
export function previewConfig({ controller, objects, slurm }: ConfigChangeOptions): ConfigChange {
  const before = slurmConfOf(controller.before, objects.before);
  const after = slurmConfOf(controller.after, objects.after);
  if (before === undefined || after === undefined) return { before, after, holds: [], maxTimes: [] };
  const { namespace, name } = controller.before.metadata;
  const stored = (objects.before['configmaps'] ?? []).find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === resourceName.config(name),
  ) as ConfigMap | undefined;
  const { holds } = guardConfig({
    inForce: stored?.data?.['slurm.conf'] ?? before,
    desired: after,
    slurm: slurm.kind === 'known' ? workOf(slurm) : slurm,
    expected: observeController(readOnly(objects.after), controller.after).expected,
  });
  return {
    before,
    after,
    // Without a change of the text nothing new is held.
    holds: before === after ? [] : holds,
    maxTimes: maxTimesOf(before, after),
  };
}

const slurmConfOf = (controller: Live<Controller>, objects: ReadObjects): string | undefined =>
  desiredSlurmConf(observeController(readOnly(objects), controller), noImages);

function maxTimesOf(before: string, after: string): ConfigChange['maxTimes'] {
  const [from, to] = [readConf(before).partitions, readConf(after).partitions];
  return [...to].flatMap(([partition, entry]) => {
    const old = from.get(partition);
    const times = { from: old && valueOf(old, 'MaxTime'), to: valueOf(entry, 'MaxTime') };
    return old === undefined || times.from === times.to ? [] : [{ partition, ...times }];
  });
}

/** The observation only gets and lists. */
function readOnly(objects: ReadObjects): Cache {
  const all = ({ plural }: AnyResource, namespace: string | undefined) =>
    (objects[plural] ?? []).filter(
      ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
    );
  const reader = {
    list: <T extends KubeObject>(resource: Resource<T>, { namespace }: { namespace?: string } = {}) =>
      all(resource, namespace),
    get: <T extends KubeObject>(resource: Resource<T>, { namespace, name }: ObjectRef) =>
      all(resource, namespace).find(({ metadata }) => metadata.name === name),
  };
  return reader as unknown as Cache; // what `observe` uses of it
}
