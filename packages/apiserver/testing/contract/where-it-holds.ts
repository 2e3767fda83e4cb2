/** Whether a case can hold on a backend: what else runs there may rightly change the objects that the recording shows. */
import type { Backend } from './backend.ts';
import { type RecordedCase, type RecordedStep, topicOf } from './case.ts';
import { isDisruptive, setOf, tierOf } from './case-groups.ts';
import { at } from './reductions.ts';

/** Recorded with a controller manager, whose part the embedded server plays itself. */
const needsControllers = new Set(['admission/34-quota-of-pods']);

/** Kinds whose objects controllers write to, or remove. */
const controlled = new Set([
  'namespaces',
  'deployments',
  'statefulsets',
  'replicasets',
  'daemonsets',
  'replicationcontrollers',
  'jobs',
  'cronjobs',
  'poddisruptionbudgets',
  'horizontalpodautoscalers',
  'persistentvolumes',
  'persistentvolumeclaims',
  'nodes',
]);

/** Kinds that make pods; of Deployments and StatefulSets outside of the topic `controllers` only the status follows. */
const podMakers = new Set(['replicasets', 'daemonsets', 'replicationcontrollers', 'jobs', 'cronjobs']);

/** Why the case says nothing about this backend, or undefined when it must pass there. */
export function notRunReason(
  recorded: RecordedCase,
  backend: Backend,
  allowDisruptive: boolean,
): string | undefined {
  const { controllers, embedded, kubelets = false, oldEtcd = false, url } = backend;
  const topic = topicOf(recorded);
  if (!controllers && tierOf(recorded) !== 'api') return 'no controllers run there';
  if (!controllers && embedded === undefined && needsControllers.has(recorded.name))
    return 'no controllers run there, and one counts what a quota has used';
  if (topic === 'admission' && !/^https:\/\/(?:127\.0\.0\.1|localhost)\b/.test(url))
    return 'the server cannot reach a webhook on this machine';
  if (!allowDisruptive && isDisruptive(recorded))
    return 'writes outside its namespaces; --allow-disruptive allows it';
  if (oldEtcd && recorded.steps.some((step) => isStreamingList(step)))
    return 'its etcd (before 3.4.25) cannot serve a watch with initial events';
  const written = stored(recorded);
  if (controllers && setOf(recorded) === 'second' && tierOf(recorded) === 'api') {
    const kind = written.find(({ resource }) => controlled.has(resource))?.resource;
    if (kind !== undefined && !needsControllers.has(recorded.name))
      return `recorded without controllers, which write to its ${kind}`;
  }
  return kubelets ? changedByKubelets(topic, written) : undefined;
}

function isStreamingList({ request, status }: RecordedStep): boolean {
  return status === 200 && /[?&]sendInitialEvents=true/.test(request?.path ?? '');
}

function changedByKubelets(topic: string, written: readonly Stored[]): string | undefined {
  if (written.some(isSchedulable)) return 'a scheduler and a kubelet would take its pod';
  const maker = written.find(
    ({ resource }) =>
      podMakers.has(resource) ||
      (topic === 'controllers' && ['deployments', 'statefulsets'].includes(resource)),
  );
  if (maker !== undefined) return `a scheduler and a kubelet would take the pods of its ${maker.resource}`;
  if (written.some(({ resource }) => resource === 'persistentvolumeclaims'))
    return 'a default StorageClass or a provisioner may change its claim';
  return undefined;
}

/** Nothing but a binding keeps a scheduler from such a pod. */
function isSchedulable({ resource, method, body }: Stored): boolean {
  if (resource !== 'pods' || method !== 'POST') return false;
  const scheduler = at(body, 'spec', 'schedulerName') ?? 'default-scheduler';
  return (
    at(body, 'spec', 'nodeName') === undefined &&
    at(body, 'spec', 'schedulingGates') === undefined &&
    scheduler === 'default-scheduler'
  );
}

interface Stored {
  readonly method: string;
  readonly resource: string;
  readonly body: unknown;
}

/** The writes of a case that were stored, by the plural name of what they wrote. */
function stored({ setup = [], steps }: RecordedCase): Stored[] {
  const sent = [
    ...setup.map((made) => ({ method: 'POST', ...made })),
    ...steps.flatMap(({ request, status = 0 }) => (request === undefined || status >= 300 ? [] : [request])),
  ];
  return sent
    .filter(({ method, path }) => method !== 'GET' && !path.includes('dryRun'))
    .map(({ method, path, headers, body }) => {
      const isApply = headers?.['content-type']?.startsWith('application/apply-patch') === true;
      return { method: isApply ? 'POST' : method, resource: resourceOf(path), body };
    });
}

function resourceOf(path: string): string {
  const [plain = ''] = path.split('?');
  const below = plain.replace(
    /^\/apis?\/(?:[^/]+\.[^/]+\/|apps\/|batch\/|autoscaling\/|policy\/)?[^/]+\//,
    '',
  );
  const parts = below.split('/');
  return (parts[0] === 'namespaces' && parts.length > 2 ? parts[2] : parts[0]) ?? '';
}
