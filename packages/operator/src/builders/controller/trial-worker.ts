/** The container in which slurmd of one worker image tries a configuration. */
import { keyFile, type NodeSet } from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import { digestOf } from '../digest.ts';
import { mergeContainer } from '../merge-template.ts';
import type { Read } from '../read.ts';
import { workerSecurityContext } from '../worker-security-context.ts';
import { sharedDirectory, slurmdScript } from './trial-scripts.ts';

/** An image that workers run with now, and the NodeSet that they belong to. */
export interface TrialWorker {
  readonly image: string;
  readonly nodeSet: Read<NodeSet>;
}

export interface TrialWorkers {
  readonly workers: readonly TrialWorker[];
  /** What fails is compared with the configuration in force, whose files are all known. */
  readonly compares: boolean;
}

/** More images than these are in use nowhere sane; each costs a pull and seconds. */
const mostWorkers = 8;

/** Volumes that are the same wherever the pod runs. Others belong to a node or to a worker. */
const portable = ['configMap', 'secret', 'projected', 'emptyDir', 'downwardAPI'] as const;

/** Mounted by the trial itself. */
const taken = ['/etc/slurm', sharedDirectory];

/** Every image once, then the other settings of each, those with the most workers first. */
export function distinctTrialWorkers(workers: readonly TrialWorker[]): TrialWorker[] {
  const groups = new Map<string, { readonly worker: TrialWorker; count: number }>();
  for (const worker of workers) {
    const { slurmd, template } = worker.nodeSet.spec;
    const key = digestOf({
      image: worker.image,
      slurmd: { ...slurmd, image: '' },
      volumes: template?.spec?.volumes,
    });
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { worker, count: 1 });
    else group.count += 1;
  }
  const all = [...groups]
    .toSorted(([keyA, a], [keyB, b]) => b.count - a.count || (keyA < keyB ? -1 : 1))
    .map(([, { worker }]) => worker);
  const firsts = all.filter(({ image }, index) => all.findIndex((other) => other.image === image) === index);
  return [...firsts, ...all.filter((worker) => !firsts.includes(worker))].slice(0, mostWorkers);
}

export interface TrialWorkerParts {
  readonly container: IContainer;
  readonly volumes: readonly IVolume[];
}

export function buildTrialWorker({ image, nodeSet }: TrialWorker, index: number): TrialWorkerParts {
  const slurmd = (nodeSet.spec.slurmd ?? {}) as Partial<IContainer>;
  const prefix = `worker-${index}-`;
  const spec = (nodeSet.spec.template?.spec ?? {}) as Partial<IPodSpec>;
  const volumes = (spec.volumes ?? []).filter((volume) =>
    portable.some((kind) => volume[kind] !== undefined),
  );
  const mounts = (slurmd.volumeMounts ?? []).filter(
    ({ name, mountPath }) =>
      volumes.some((volume) => volume.name === name) && !taken.some((path) => mountPath.startsWith(path)),
  );
  const base: IContainer = {
    name: `slurmd-${index}`,
    image,
    securityContext: workerSecurityContext(nodeSet),
  };
  const { securityContext } = mergeContainer(base, { securityContext: slurmd.securityContext });
  return {
    container: {
      ...base,
      ...(slurmd.imagePullPolicy === undefined ? {} : { imagePullPolicy: slurmd.imagePullPolicy }),
      command: ['/bin/bash', '-c', slurmdScript],
      securityContext: { runAsUser: 0, runAsNonRoot: false, ...securityContext },
      resources: { requests: { cpu: '50m', memory: '64Mi' } },
      env: [
        ...(slurmd.env ?? []),
        { name: 'TRIAL_WORKER', value: String(index) },
        { name: 'TRIAL_IMAGE', value: image },
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
        ...mounts.map((mount) => ({ ...mount, name: `${prefix}${mount.name}` })),
      ],
    },
    volumes: volumes
      .filter(({ name }) => mounts.some((mount) => mount.name === name))
      .map((volume) => ({ ...volume, name: `${prefix}${volume.name}` })),
  };
}
