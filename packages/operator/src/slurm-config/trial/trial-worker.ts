/** The container in which slurmd of one worker image tries a configuration. */
import { app, keyFile, type NodeSet } from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import { digestOf } from '../../objects/digest.ts';
import { mergeContainer } from '../../objects/merge-template.ts';
import type { Read } from '../../objects/read.ts';
import { workerSecurityContext } from '../../objects/security-contexts.ts';
import { slurmdConf } from '../render/slurmd-conf.ts';
import type { TrialScope } from './trial-conf.ts';
import { sharedDirectory, slurmdScript } from './trial-scripts.ts';

/** An image that workers run with now, and the NodeSet that they belong to. */
export interface TrialWorker {
  readonly image: string;
  readonly nodeSet: Read<NodeSet>;
  /** Of the node that the worker runs on, such as amd64; undefined while that is not known. */
  readonly architecture?: string | undefined;
}

/** Stands for all workers with the same image and settings. */
export interface TrialGroup extends TrialWorker {
  /** The same whatever other workers there are: it names a container and, where needed, a pod. */
  readonly id: string;
}

/** One pod of a trial. */
export interface TrialPart {
  /** Empty for the first; the others are named after an architecture or a group of workers. */
  readonly id: string;
  readonly scope: TrialScope;
  readonly workers: readonly TrialGroup[];
  /** Where workers run on nodes of several: the one of this pod. */
  readonly architecture?: string | undefined;
}

/** More images than these are in use nowhere sane; each costs a pull and seconds. */
const mostWorkers = 8;
const idLength = 8;

/** Volumes that are the same wherever the pod runs. Others belong to a node or to a worker. */
const portable = ['configMap', 'secret', 'projected', 'emptyDir', 'downwardAPI'] as const;

/** Volumes that any pod on the node of a worker can have. */
const ofNode = ['hostPath', 'csi', 'ephemeral', 'nfs', 'image'] as const;

/** Mounted by the trial itself. */
const taken = ['/etc/slurm', sharedDirectory];

/** Every image once for each architecture, then the other settings of each, those with the most workers first. */
export function distinctTrialWorkers(workers: readonly TrialWorker[]): TrialGroup[] {
  const groups = new Map<string, { readonly worker: TrialWorker; count: number }>();
  for (const worker of workers) {
    const { slurmd, template } = worker.nodeSet.spec;
    const key = digestOf({
      image: worker.image,
      slurmd: { ...slurmd, image: '' },
      volumes: template?.spec?.volumes,
      // Left out where it is not known, so that what is there later is not another group.
      ...(worker.architecture === undefined ? {} : { architecture: worker.architecture }),
    });
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { worker, count: 1 });
    else group.count += 1;
  }
  const all = [...groups]
    .toSorted(([keyA, a], [keyB, b]) => b.count - a.count || (keyA < keyB ? -1 : 1))
    .map(([key, { worker }]) => ({ ...worker, id: key.slice(0, idLength) }));
  const firsts = all.filter(
    ({ image, architecture }, index) =>
      all.findIndex((other) => other.image === image && other.architecture === architecture) === index,
  );
  return [...firsts, ...all.filter((worker) => !firsts.includes(worker))].slice(0, mostWorkers);
}

/**
 * The pods that a trial begins with: one for each architecture, because an image runs only on nodes of its own. Only where there are
 * several does a pod ask for one of them.
 */
export function trialParts(groups: readonly TrialGroup[]): TrialPart[] {
  const architectures = [...new Set(groups.flatMap(({ architecture }) => architecture ?? []))];
  const [first] = architectures;
  if (architectures.length <= 1) return [{ id: '', scope: 'image', workers: groups }];
  return architectures.map((architecture) => ({
    id: architecture === first ? '' : architecture,
    scope: 'image',
    architecture,
    workers: groups.filter((one) => (one.architecture ?? first) === architecture),
  }));
}

/** The pod with the resources and on a node of a worker, for what the first pods could not find out. */
export const partOnNode = (group: TrialGroup): TrialPart => ({
  id: group.id,
  scope: 'node',
  workers: [group],
  architecture: group.architecture,
});

export interface TrialWorkerParts {
  readonly container: IContainer;
  readonly volumes: readonly IVolume[];
}

export const trialContainerName = (id: string): string => `slurmd-${id}`;

export function buildTrialWorker(
  { image, nodeSet, id }: TrialGroup,
  index: number,
  scope: TrialScope = 'image',
): TrialWorkerParts {
  const slurmd = (nodeSet.spec.slurmd ?? {}) as Partial<IContainer>;
  const spec = (nodeSet.spec.template?.spec ?? {}) as Partial<IPodSpec>;
  const kinds = scope === 'node' ? [...portable, ...ofNode] : portable;
  const name = trialContainerName(id);
  const volumes = (spec.volumes ?? []).filter((volume) => kinds.some((kind) => volume[kind] !== undefined));
  const mounts = (slurmd.volumeMounts ?? []).filter(
    (mount) =>
      volumes.some((volume) => volume.name === mount.name) &&
      !taken.some((path) => mount.mountPath.startsWith(path)),
  );
  const mounted = volumes.filter((volume) => mounts.some((mount) => mount.name === volume.name));
  // Numbered: a name of the user's with something before it may be too long for Kubernetes.
  const newName = new Map(mounted.map((volume, at) => [volume.name, `worker-${index}-${at}`]));
  const base: IContainer = { name, image, securityContext: workerSecurityContext(nodeSet) };
  const { securityContext } = mergeContainer(base, { securityContext: slurmd.securityContext });
  return {
    container: {
      ...base,
      ...(slurmd.imagePullPolicy === undefined ? {} : { imagePullPolicy: slurmd.imagePullPolicy }),
      command: ['/bin/bash', '-c', slurmdScript],
      securityContext: { runAsUser: 0, runAsNonRoot: false, ...securityContext },
      resources:
        scope === 'node' && slurmd.resources !== undefined
          ? slurmd.resources
          : { requests: { cpu: '50m', memory: '64Mi' } },
      env: [
        ...(slurmd.env ?? []).flatMap((one) => fieldsOf(one, name)),
        { name: 'TRIAL_WORKER', value: id },
        { name: 'TRIAL_IMAGE', value: image },
        {
          name: 'TRIAL_CONF',
          value: scope === 'node' ? slurmdConf(nodeSet as NodeSet) : 'Feature=config-trial',
        },
      ],
      ...(slurmd.envFrom === undefined ? {} : { envFrom: slurmd.envFrom }),
      volumeMounts: [
        {
          name: 'slurm-etc',
          mountPath: `/etc/slurm/${keyFile.slurm}`,
          subPath: keyFile.slurm,
          readOnly: true,
        },
        { name: 'trial', mountPath: sharedDirectory },
        ...mounts.map((mount) => ({ ...mount, name: newName.get(mount.name) ?? '' })),
      ],
    },
    volumes: mounted.map((volume) => ({
      ...portableVolume(volume, name),
      name: newName.get(volume.name) ?? '',
    })),
  };
}

type EnvVar = NonNullable<IContainer['env']>[number];

/** Resources of the container slurmd are those of the one that takes its place; others do not exist in this pod. */
function fieldsOf(env: EnvVar, container: string): EnvVar[] {
  const field = env.valueFrom?.resourceFieldRef;
  if (field?.containerName === undefined) return [env];
  if (field.containerName !== app.worker) return [];
  return [{ ...env, valueFrom: { resourceFieldRef: { ...field, containerName: container } } }];
}

type DownwardItem = NonNullable<NonNullable<IVolume['downwardAPI']>['items']>[number];

function portableVolume(volume: IVolume, container: string): IVolume {
  // Huge pages need a request for them.
  if (volume.emptyDir?.medium?.startsWith('HugePages') === true) return { name: volume.name, emptyDir: {} };
  const items = (all: readonly DownwardItem[] | undefined) =>
    (all ?? []).flatMap((item): DownwardItem[] => {
      const field = item.resourceFieldRef;
      if (field?.containerName === undefined) return [item];
      if (field.containerName !== app.worker) return [];
      return [{ ...item, resourceFieldRef: { ...field, containerName: container } }];
    });
  if (volume.downwardAPI !== undefined)
    return { ...volume, downwardAPI: { ...volume.downwardAPI, items: items(volume.downwardAPI.items) } };
  if (volume.projected?.sources === undefined) return volume;
  const sources = volume.projected.sources.map((source) =>
    source.downwardAPI === undefined
      ? source
      : { ...source, downwardAPI: { items: items(source.downwardAPI.items) } },
  );
  return { ...volume, projected: { ...volume.projected, sources } };
}
