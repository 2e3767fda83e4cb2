/** What the pods of a workload tell about it. */
import { type Component, label } from '@slurm-operator/api';
import { type Cache, type Live, nodes, type Pod, pods } from '@slurm-operator/kube';
import { selectorLabels } from '../../objects/object-meta.ts';
import type { Problem } from './conditions.ts';

export interface PodFacts {
  readonly name: string;
  readonly uid: string;
  readonly ready: boolean;
  /** Its main container runs, whether it is ready or not. */
  readonly running: boolean;
  /** Its main container ran once, whether it runs now or not. */
  readonly everStarted?: boolean;
  /** Its node, when that does not answer: then nothing about the pod is news. */
  readonly lostWith: string | undefined;
  /** How often, and how, a container exited. */
  readonly restarts: number;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** Which revision of its template it was made from. */
  readonly revision: string | undefined;
  /** Why a container does not run, in Kubernetes' word, such as CrashLoopBackOff. */
  readonly waiting: string | undefined;
  readonly waitingMessage: string | undefined;
  /** When a container that waits for its next start failed last. */
  readonly failedAt?: number | undefined;
  /** The last output of a container that failed. */
  readonly lastLogLine: string | undefined;
  /** Why no node takes it. */
  readonly unschedulable: string | undefined;
  /** Nodes that do not answer, where a volume keeps the pod from all others. */
  readonly boundTo: readonly string[];
}

/** Terminating pods do not count, except those whose node does not respond: they stay until it does. */
export function podsOf(cache: Cache, of: Component, namespace: string, instance: string): PodFacts[] {
  const wanted = Object.entries(selectorLabels(of, instance));
  return cache
    .list(pods, { namespace })
    .filter((pod) => wanted.every(([key, value]) => pod.metadata.labels?.[key] === value))
    .filter((pod) => pod.metadata.labels?.[label.component])
    .map((pod) => ({ pod, node: lostNode(cache, pod.spec?.nodeName) }))
    .filter(({ pod, node }) => pod.metadata.deletionTimestamp === undefined || node !== undefined)
    .map(({ pod, node }) => podFacts(pod, node))
    .map((facts) => (isBound(facts) ? { ...facts, boundTo: lostNodes(cache) } : facts));
}

/** Kubernetes changed its words for it. */
const isBound = ({ unschedulable = '' }: Pick<PodFacts, 'unschedulable'>): boolean =>
  /volume node affinity conflict|PersistentVolume's node affinity/.test(unschedulable);

const lostNodes = (cache: Cache): string[] =>
  cache
    .list(nodes)
    .flatMap(({ metadata }) => lostNode(cache, metadata.name) ?? [])
    .toSorted();

/** The node of a pod, when it does not answer. */
export function lostNode(cache: Cache, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const ready = cache.get(nodes, { name })?.status?.conditions?.find((one) => one.type === 'Ready');
  return ready !== undefined && ready.status !== 'True' ? name : undefined;
}

export function podFacts({ metadata, spec, status }: Live<Pod>, lostWith: string | undefined): PodFacts {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const main = status?.containerStatuses?.find((one) => one.name === spec?.containers[0]?.name);
  const stopped = containers.find(({ state }) => state?.waiting?.reason && !normal.has(state.waiting.reason));
  const waiting = stopped?.state?.waiting;
  const failedAt = Date.parse(stopped?.lastState?.terminated?.finishedAt ?? '');
  const ended = containers
    .map((one) => one.state?.terminated ?? one.lastState?.terminated)
    .find((one) => one && one.exitCode !== 0);
  const scheduled = status?.conditions?.find((one) => one.type === 'PodScheduled');
  return {
    name: metadata.name,
    uid: metadata.uid,
    ready:
      lostWith === undefined &&
      (status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false),
    running: lostWith === undefined && main?.state?.running !== undefined,
    everStarted: main !== undefined && hasStarted(main),
    lostWith,
    restarts: containers.reduce((sum, one) => sum + (one.restartCount ?? 0), 0),
    annotations: metadata.annotations ?? {},
    labels: metadata.labels ?? {},
    revision: metadata.labels?.['controller-revision-hash'],
    waiting: waiting?.reason,
    waitingMessage: waiting?.message,
    ...(Number.isNaN(failedAt) ? {} : { failedAt }),
    lastLogLine: lastLine(ended?.message),
    unschedulable: scheduled?.status === 'False' ? (scheduled.message ?? scheduled.reason) : undefined,
    boundTo: [],
  };
}

type ContainerStatus = NonNullable<NonNullable<Live<Pod>['status']>['containerStatuses']>[number];

const hasStarted = ({ state, lastState, restartCount }: ContainerStatus): boolean =>
  (state?.running ?? state?.terminated ?? lastState?.terminated) !== undefined || (restartCount ?? 0) > 0;

/** A container waits for these as a matter of course. */
const normal = new Set(['ContainerCreating', 'PodInitializing']);

/** Daemons log why they exit in their last line, often after many others. */
function lastLine(log: string | undefined): string | undefined {
  const lines = (log ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return (lines.findLast((line) => /fatal|error/i.test(line)) ?? lines.at(-1))?.slice(0, 500);
}

const lostNodeAdvice = (pod: string, node: string): string =>
  `node ${node} does not answer, and pod ${pod} is on it. The pod comes back with the node. If the node is powered off and stays off, run "kubectl taint node ${node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" or delete the Node, and Kubernetes starts the pod elsewhere, unless its volume exists on that node only.`;

function volumeAdvice(pod: PodFacts): string {
  if (!isBound(pod)) return '';
  const named =
    pod.boundTo.length === 0
      ? 'a node that does not take the pod'
      : `node ${pod.boundTo.join(' or ')}, which does not answer`;
  return ` Its volume exists on ${named}, and cannot move: bring the node back, or restore the data from a backup into a new claim.`;
}

/** What keeps the pods of a workload from being ready, the most telling first. One that is ready keeps the whole going. */
export function podProblems(found: readonly PodFacts[], namespace: string, nothingReady: string): Problem[] {
  const stillReady = found.some((pod) => pod.ready);
  const broken = found.find((pod) => pod.waiting !== undefined && pod.lostWith === undefined);
  if (broken !== undefined) {
    const words = broken.lastLogLine ?? broken.waitingMessage;
    return [
      {
        reason: /Image/.test(broken.waiting ?? '') ? 'ImagePullFailed' : 'CrashLooping',
        message: `pod ${broken.name}: ${broken.waiting}${words === undefined ? '' : `: ${words}`}. For details run "kubectl logs ${broken.name} -n ${namespace} --previous".`,
        stillReady,
      },
    ];
  }
  const unschedulable = found.find((pod) => pod.unschedulable !== undefined);
  if (unschedulable !== undefined)
    return [
      {
        reason: 'PodsUnschedulable',
        message: `pod ${unschedulable.name}: ${unschedulable.unschedulable}${volumeAdvice(unschedulable)}`,
        stillReady,
      },
    ];
  const lost = found.find((pod) => pod.lostWith !== undefined);
  if (lost !== undefined)
    return [
      {
        reason: 'PodsNotReady',
        message: lostNodeAdvice(lost.name, lost.lostWith ?? ''),
        stillReady,
      },
    ];
  if (stillReady) return [];
  const restarted = found.find((pod) => pod.restarts > 0);
  const again =
    restarted === undefined
      ? ''
      : ` Pod ${restarted.name} restarted ${restarted.restarts} ${restarted.restarts === 1 ? 'time' : 'times'}${restarted.lastLogLine === undefined ? '' : `; last log line: ${restarted.lastLogLine}`}.`;
  return [{ reason: 'Starting', message: `${nothingReady}${again}`, passing: true }];
}
