/** What is not Ready and why, from what the cluster knows. Pure. */
import type { DeepReadonly, Deployment, Event, PersistentVolumeClaim, Pod } from '@slurm-operator/kube';
import type { Evidence, ObservedObject } from './evidence.ts';
import { oneLine, type WaitingLine } from './wait-report.ts';

/** Faults first, each in the order objects, claims, pods, deployments, controllers that cannot create pods. */
export function notReady(evidence: Evidence): WaitingLine[] {
  // A Cluster repeats what is wrong with its parts: they come first.
  const isWhole = ({ kind }: ObservedObject) => kind === 'Cluster';
  const objects = evidence.objects
    .filter(({ isReady }) => !isReady)
    .toSorted((a, b) => Number(isWhole(a)) - Number(isWhole(b)))
    .map(objectLine);
  const claims = evidence.claims.flatMap((claim) => claimLine(claim, evidence.events));
  // A condition that names the pod has said it better.
  const isNamed = ({ metadata }: DeepReadonly<Pod>) =>
    objects.some(({ why }) => why.includes(`pod ${metadata.name}`));
  const pods = evidence.pods
    .filter((pod) => !isNamed(pod))
    .flatMap((pod) => podLine(pod, evidence.events) ?? []);
  const deployments = evidence.deployments.flatMap((each) => deploymentLine(each, evidence.pods));
  const lines = [...objects, ...claims, ...pods, ...deployments, ...refusedPods(evidence)];
  return [...lines.filter(({ isFault }) => isFault), ...lines.filter(({ isFault }) => !isFault)];
}

const line = (
  kind: string,
  { name, namespace }: { readonly name: string; readonly namespace?: string | undefined },
  why: string,
  isFault: boolean,
): WaitingLine => ({
  subject: `${kind} ${name}`,
  namespace: namespace ?? '',
  why: oneLine(why),
  isFault,
});

const objectLine = (object: ObservedObject): WaitingLine =>
  line(
    object.kind,
    object,
    object.message ?? 'no condition for its current spec yet',
    object.isDegraded && object.message !== undefined,
  );

function claimLine(
  { metadata, spec, status }: DeepReadonly<PersistentVolumeClaim>,
  events: readonly DeepReadonly<Event>[],
): WaitingLine[] {
  if (status?.phase === 'Bound') return [];
  const event = newestAbout(events, 'PersistentVolumeClaim', metadata);
  const ofClass =
    spec?.storageClassName === undefined
      ? 'names no StorageClass, and the cluster may have no default one'
      : `wants a volume of StorageClass "${spec.storageClassName}"`;
  const why = event === undefined ? `Pending: it ${ofClass}` : `Pending: ${event.note ?? event.reason}`;
  // Kubernetes sends FailedBinding as a Normal event.
  const isFault = event?.type === 'Warning' || event?.reason === 'FailedBinding';
  return [line('PersistentVolumeClaim', metadata, why, isFault)];
}

/** Kubernetes' words for a container that is only being prepared. */
const isPreparing = (reason: string) => reason === 'ContainerCreating' || reason === 'PodInitializing';

function podLine(pod: DeepReadonly<Pod>, events: readonly DeepReadonly<Event>[]): WaitingLine | undefined {
  const { metadata, status } = pod;
  const condition = (type: string) => status?.conditions?.find((each) => each.type === type);
  if (status?.phase === 'Succeeded' || condition('Ready')?.status === 'True') return undefined;
  if (metadata.deletionTimestamp !== undefined) return line('Pod', metadata, 'is being deleted', false);
  const scheduled = condition('PodScheduled');
  if (scheduled?.status === 'False')
    return unscheduled(metadata, scheduled.message ?? scheduled.reason ?? '');
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const { name, state, lastState } of containers) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (reason === '' || isPreparing(reason)) continue;
    const said = lastLine(lastState?.terminated?.message) ?? message;
    const why = `container ${name}: ${reason}${said === '' ? '' : `: ${said}`}`;
    return line('Pod', metadata, why, reason !== 'ErrImagePull');
  }
  const ended = containers.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (ended !== undefined) {
    const { exitCode, message } = ended.state?.terminated ?? {};
    const said = lastLine(message);
    const why = `container ${ended.name} ended with exit code ${exitCode}${said === undefined ? '' : `: ${said}`}`;
    return line('Pod', metadata, why, true);
  }
  // What kept it from a node is over.
  const warnings = events.filter(({ type, reason }) => type === 'Warning' && reason !== 'FailedScheduling');
  const warning = newestAbout(warnings, 'Pod', metadata);
  if (warning !== undefined)
    return line('Pod', metadata, `${warning.reason}: ${warning.note ?? ''}`, isMountProblem(warning));
  const running = containers.some(({ state }) => state?.running !== undefined);
  return line(
    'Pod',
    metadata,
    running ? 'runs and is not ready yet' : 'its containers are being started',
    false,
  );
}

/** A pod that waits for its claim is explained by the line of the claim. */
const unscheduled = (metadata: DeepReadonly<Pod>['metadata'], message: string): WaitingLine =>
  line(
    'Pod',
    metadata,
    `no node takes it: ${message}`,
    !/unbound immediate PersistentVolumeClaims/.test(message),
  );

/** A probe that fails once while a daemon starts is normal; a volume that cannot be mounted is not. */
const isMountProblem = ({ reason }: DeepReadonly<Event>): boolean =>
  /^Failed(Mount|AttachVolume|CreatePodSandBox)/.test(reason ?? '');

/** Only where none of its pods tells more. */
function deploymentLine(
  { metadata, spec, status }: DeepReadonly<Deployment>,
  pods: readonly DeepReadonly<Pod>[],
): WaitingLine[] {
  const wanted = spec?.replicas ?? 1;
  const available = status?.availableReplicas ?? 0;
  const isCurrent = status?.observedGeneration === metadata.generation;
  if (isCurrent && available >= wanted && (status?.updatedReplicas ?? 0) >= wanted) return [];
  const labels = Object.entries(spec?.selector.matchLabels ?? {});
  const own = pods.some(
    (pod) =>
      pod.metadata.namespace === metadata.namespace &&
      labels.every(([key, value]) => pod.metadata.labels?.[key] === value),
  );
  if (own) return [];
  return [line('Deployment', metadata, `${available} of ${wanted} pods are available`, false)];
}

/** A quota, a policy or Pod Security refuses pods: then there is no pod to look at, only an event of its controller. */
function refusedPods(evidence: Evidence): WaitingLine[] {
  const newest = new Map<string, WaitingLine>();
  for (const warning of evidence.events.toSorted((a, b) => timeOf(a) - timeOf(b))) {
    const { kind = '', name = '', namespace } = warning.regarding ?? {};
    if (warning.reason !== 'FailedCreate' || isOver(warning, evidence)) continue;
    newest.set(`${kind} ${name}`, line(kind, { name, namespace }, warning.note ?? 'FailedCreate', true));
  }
  return [...newest.values()];
}

/** Events stay for an hour: one counts only while its controller still lacks pods. */
function isOver({ regarding }: DeepReadonly<Event>, { creators, objects }: Evidence): boolean {
  const isIt = (each: { readonly kind: string; readonly name: string; readonly namespace: string }) =>
    each.kind === regarding?.kind && each.name === regarding.name && each.namespace === regarding.namespace;
  if (regarding?.kind === 'ReplicaSet' || regarding?.kind === 'StatefulSet') {
    const creator = creators.find(isIt);
    const isAnother = regarding.uid !== undefined && creator?.uid !== regarding.uid;
    return creator === undefined || isAnother || creator.isComplete;
  }
  return objects.find(isIt)?.isReady === true;
}

function newestAbout(
  events: readonly DeepReadonly<Event>[],
  kind: string,
  { name, namespace, uid }: { readonly name: string; readonly namespace?: string; readonly uid?: string },
): DeepReadonly<Event> | undefined {
  return events
    .filter(
      ({ regarding }) =>
        regarding?.kind === kind &&
        regarding.name === name &&
        regarding.namespace === namespace &&
        // An event of an earlier object of this name is no news.
        (regarding.uid === undefined || uid === undefined || regarding.uid === uid),
    )
    .toSorted((a, b) => timeOf(a) - timeOf(b))
    .at(-1);
}

const timeOf = (event: DeepReadonly<Event>): number =>
  Date.parse(
    event.series?.lastObservedTime ??
      event.deprecatedLastTimestamp ??
      event.eventTime ??
      event.metadata.creationTimestamp ??
      '',
  ) || 0;

/** Daemons say why they end in the last line that mentions an error. */
function lastLine(log: string | undefined): string | undefined {
  const lines = (log ?? '').split('\n').filter((each) => each.trim() !== '');
  return lines.findLast((each) => /fatal|error/i.test(each)) ?? lines.at(-1);
}
