/** The pods that try a configuration, and the workers whose images they try, from caches. */
import { app, type Controller, label } from '@slurm-operator/api';
import { type Cache, type Live, nodes, type Pod, pods } from '@slurm-operator/kube';
import { nodeSets } from '../../cache/resources.ts';
import { lostNode, podFacts } from '../../framework/status/pods.ts';
import { trialAnnotation, trialApp, trialPartAnnotation } from '../../slurm-config/trial/config-check.ts';
import type { Trial } from '../../slurm-config/trial/trial.ts';
import { readReport, type TrialResult } from '../../slurm-config/trial/trial-report.ts';
import { refusedCode } from '../../slurm-config/trial/trial-scripts.ts';
import { type TrialWorker, trialContainerName } from '../../slurm-config/trial/trial-worker.ts';

/** Workers whose slurmd runs. */
export function runningWorkers(cache: Cache, { metadata }: Live<Controller>): TrialWorker[] {
  const { namespace, name: cluster } = metadata;
  return cache
    .list(pods, { namespace })
    .filter(
      ({ metadata: { labels } }) => labels?.[label.name] === app.worker && labels[label.cluster] === cluster,
    )
    .flatMap((pod) => {
      const isRunning = pod.status?.containerStatuses?.some(
        (one) => one.name === app.worker && one.state?.running !== undefined,
      );
      const image = pod.spec?.containers.find((one) => one.name === app.worker)?.image;
      const nodeSet = cache.get(nodeSets, { namespace, name: pod.metadata.labels?.[label.instance] ?? '' });
      if (isRunning !== true || image === undefined || nodeSet === undefined) return [];
      const node = cache.get(nodes, { name: pod.spec?.nodeName ?? '' });
      return [{ image, nodeSet, architecture: node?.metadata.labels?.['kubernetes.io/arch'] }];
    });
}

export function observeTrials(cache: Cache, { metadata }: Live<Controller>): Trial[] {
  return cache
    .list(pods, { namespace: metadata.namespace })
    .filter(
      ({ metadata: { labels } }) =>
        labels?.[label.name] === trialApp && labels[label.instance] === metadata.name,
    )
    .map((pod) => trialOf(pod, lostNode(cache, pod.spec?.nodeName)));
}

export function trialOf(pod: Live<Pod>, lostWith: string | undefined): Trial {
  const { metadata, spec, status } = pod;
  const { waiting, waitingMessage, unschedulable } = podFacts(pod, lostWith);
  const ended = (status?.containerStatuses ?? []).find((one) => one.name === app.controller)?.state
    ?.terminated;
  const words = ended?.message?.trim().replaceAll(/\s+/g, ' ').slice(0, 1000) || status?.message;
  return {
    name: metadata.name,
    part: metadata.annotations?.[trialPartAnnotation] ?? '',
    digest: metadata.annotations?.[trialAnnotation] ?? '',
    uid: metadata.uid,
    phase: status?.phase ?? 'Pending',
    result: resultOf(pod),
    message: words ?? unschedulable ?? waitingMessage ?? waiting ?? brokenWorker(pod),
    createdAt: Date.parse(metadata.creationTimestamp ?? '') || 0,
    deletedAt:
      metadata.deletionTimestamp === undefined ? undefined : Date.parse(metadata.deletionTimestamp) || 0,
    node: spec?.nodeName,
    isLost: lostWith !== undefined,
  };
}

function resultOf({ spec, status }: Live<Pod>): TrialResult | undefined {
  if (status?.phase === 'Succeeded') return { kind: 'passed' };
  const ended = status?.containerStatuses?.find((one) => one.name === app.controller)?.state?.terminated;
  if (status?.phase !== 'Failed' || ended?.exitCode !== refusedCode) return undefined;
  const imageOf = (id: string) =>
    spec?.containers.find(({ name }) => name === trialContainerName(id))?.image ?? id;
  return readReport(ended.message ?? '', imageOf);
}

/** A container of a worker image that cannot even start the script: another architecture, or an image without bash. */
function brokenWorker({ status }: Live<Pod>): string | undefined {
  const broken = status?.containerStatuses?.find(
    (one) => one.name !== app.controller && (one.state?.terminated?.exitCode ?? 0) !== 0,
  );
  const end = broken?.state?.terminated;
  if (broken === undefined || end === undefined) return undefined;
  return `container ${broken.name} ended with ${end.exitCode}: ${end.message ?? end.reason ?? 'no explanation'}`;
}
