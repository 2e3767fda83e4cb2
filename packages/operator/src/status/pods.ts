/** What the pods of a workload tell about it. */
import { type Component, label } from '@slurm-operator/api';
import { type Cache, type Live, type Pod, pods } from '@slurm-operator/kube';
import { selectorLabels } from '../builders/labels.ts';
import type { Trouble } from './judge.ts';

export interface PodFacts {
  readonly name: string;
  readonly uid: string;
  readonly ready: boolean;
  readonly annotations: Readonly<Record<string, string>>;
  /** Why a container does not run, in Kubernetes' word, such as CrashLoopBackOff. */
  readonly waiting: string | undefined;
  readonly waitingMessage: string | undefined;
  /** The last words of a container that ended badly. */
  readonly lastWords: string | undefined;
  /** Why no node takes it. */
  readonly unschedulable: string | undefined;
}

export function podsOf(cache: Cache, of: Component, namespace: string, instance: string): PodFacts[] {
  const wanted = Object.entries(selectorLabels(of, instance));
  return cache
    .list(pods, { namespace })
    .filter((pod) => wanted.every(([key, value]) => pod.metadata.labels?.[key] === value))
    .filter((pod) => pod.metadata.deletionTimestamp === undefined && pod.metadata.labels?.[label.component])
    .map(factsOf);
}

function factsOf({ metadata, status }: Live<Pod>): PodFacts {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = containers
    .map((one) => one.state?.waiting)
    .find((one) => one?.reason && !normal.has(one.reason));
  const ended = containers
    .map((one) => one.state?.terminated ?? one.lastState?.terminated)
    .find((one) => one && one.exitCode !== 0);
  const scheduled = status?.conditions?.find((one) => one.type === 'PodScheduled');
  return {
    name: metadata.name,
    uid: metadata.uid,
    ready: status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false,
    annotations: metadata.annotations ?? {},
    waiting: waiting?.reason,
    waitingMessage: waiting?.message,
    lastWords: lastLine(ended?.message),
    unschedulable: scheduled?.status === 'False' ? (scheduled.message ?? scheduled.reason) : undefined,
  };
}

/** A container waits for these as a matter of course. */
const normal = new Set(['ContainerCreating', 'PodInitializing']);

/** Daemons say why they die in their last line, often after many others. */
function lastLine(log: string | undefined): string | undefined {
  const lines = (log ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return (lines.findLast((line) => /fatal|error/i.test(line)) ?? lines.at(-1))?.slice(0, 500);
}

/** What keeps the pods of a workload from being ready, the most telling first. */
export function podTroubles(found: readonly PodFacts[], namespace: string, nothingReady: string): Trouble[] {
  const broken = found.find((pod) => pod.waiting !== undefined);
  if (broken !== undefined) {
    const words = broken.lastWords ?? broken.waitingMessage;
    return [
      {
        reason: /Image/.test(broken.waiting ?? '') ? 'ImagePullFailed' : 'CrashLooping',
        message: `pod ${broken.name}: ${broken.waiting}${words === undefined ? '' : `: ${words}`}. More with "kubectl logs ${broken.name} -n ${namespace} --previous".`,
      },
    ];
  }
  const homeless = found.find((pod) => pod.unschedulable !== undefined);
  if (homeless !== undefined)
    return [{ reason: 'PodsUnschedulable', message: `pod ${homeless.name}: ${homeless.unschedulable}` }];
  if (!found.some((pod) => pod.ready)) return [{ reason: 'Starting', message: nothingReady, passing: true }];
  return [];
}
