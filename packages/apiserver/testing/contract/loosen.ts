/**
 * Where the recording was a race. Outside the topic `controllers` a controller wrote the status of these kinds some time
 * between two steps; on a backend that has controllers their status, its managedFields entry and the resourceVersion are
 * therefore not compared after the create. A server without controllers is held to every field: `stage.ts` writes what
 * they wrote, when they wrote it.
 */
import { clone, isObject } from '../../src/api/json.ts';
import type { RecordedStep } from './case.ts';

/**
 * Steps that were recorded without waiting, although they look at what another controller writes than the one that was
 * waited for just before: on a busy machine it may come a moment later. Every other step must be right at once.
 */
const unwaited: Readonly<Record<string, readonly number[]>> = {
  // The Deployment's status is counted from pods; its ReplicaSets' own status is written by their controller.
  'controllers/16-deployment': [10],
  // EndpointSlices were waited for, the Endpoints of the same Service come from them.
  'controllers/18-endpointslice-publish-not-ready': [5],
};

export function comesFromAnotherController(name: string, step: number): boolean {
  return unwaited[name]?.includes(step) === true;
}

/**
 * Steps at which controllers, and machines that send their heartbeat, may have written before the recorded request came: then
 * these fields of metadata are another. A server without other writers is held to them.
 */
const overtaken: Readonly<Record<string, Readonly<Record<number, readonly string[]>>>> = {
  // The namespace controller may have begun to empty the namespace.
  'crud/33-namespace-terminating': {
    5: ['deletionTimestamp', 'deletionGracePeriodSeconds'],
    7: ['resourceVersion'],
  },
};

export function withoutRaces(name: string, step: number, body: unknown): unknown {
  const fields = overtaken[name]?.[step];
  if (fields === undefined || !isObject(body) || !isObject(body['metadata'])) return body;
  const kept = Object.entries(body['metadata']).filter(([field]) => !fields.includes(field));
  return { ...body, metadata: Object.fromEntries(kept) };
}

const kinds = new Set(['StatefulSet', 'Deployment', 'PodDisruptionBudget']);

/** Generated names that the recording shows as they were; they are another at each run like the masked ones. */
const unmasked: readonly (readonly [RegExp, string])[] = [
  [/web-64f5977cbf/g, 'web-<hash>'],
  [/odd-b5b6c49f/g, 'odd-<hash>'],
  [/dep-f49cdf4c/g, 'dep-<hash>'],
  [/rs-7m8sm/g, 'rs-<rand>'],
];

/**
 * With running controllers every write of theirs counts into the resourceVersion of lists, and the order of entries
 * in managedFields follows the second they were written in: neither says anything about the case.
 */
export function loosenTiming(value: unknown): unknown {
  if (typeof value === 'string')
    return unmasked.reduce((text, [pattern, mask]) => text.replaceAll(pattern, mask), value);
  if (Array.isArray(value)) return value.map(loosenTiming);
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === 'metadata' && Array.isArray(value['items']) && isObject(item)) {
      const { resourceVersion: _version, ...rest } = item;
      copy[key] = rest;
    } else if (key === 'managedFields' && Array.isArray(item))
      copy[key] = item.map(loosenTiming).toSorted(byManager);
    else copy[key] = loosenTiming(item);
  }
  return copy;
}

/** Addresses of Services are taken from a range that each cluster chooses. */
export function maskNetwork(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/(The range of valid IPs is )[\d./]+/g, '$1<masked>');
  if (Array.isArray(value)) return value.map(maskNetwork);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskNetwork(item)]));
}

function byManager(a: unknown, b: unknown): number {
  const key = (entry: unknown) =>
    isObject(entry)
      ? ['manager', 'operation', 'subresource'].map((name) => String(entry[name])).join(' ')
      : '';
  return key(a) < key(b) ? -1 : 1;
}

export function loosenControllerWrites(
  topic: string,
  step: RecordedStep,
  recorded: unknown,
  actual: unknown,
): { recorded: unknown; actual: unknown } {
  const raced =
    topic !== 'controllers' &&
    step.eventually !== true &&
    isObject(recorded) &&
    (kinds.has(String(recorded['kind'])) ||
      /\/(?:statefulsets|deployments)\/.*\/scale/.test(step.request?.path ?? '')) &&
    step.status !== undefined &&
    step.status < 300 &&
    !(step.request?.method === 'POST');
  if (!raced) return { recorded, actual };
  const loose = { recorded: loosened(recorded), actual: loosened(actual) };
  if (!(step.request?.path ?? '').includes('/status')) return loose;
  // A write of status is about its fields; a controller may have added others.
  const { status } = recorded;
  return {
    recorded: { ...loose.recorded, status },
    actual: { ...loose.actual, status: fieldsOf(isObject(actual) ? actual['status'] : undefined, status) },
  };
}

/** Only the fields that the other one has. */
const fieldsOf = (value: unknown, other: unknown): unknown =>
  isObject(value) && isObject(other)
    ? Object.fromEntries(Object.entries(value).filter(([key]) => key in other))
    : value;

/** The deployment controller counts revisions in an annotation. */
function dropRevision(metadata: Record<string, unknown>): void {
  const { annotations } = metadata;
  if (!isObject(annotations)) return;
  delete annotations['deployment.kubernetes.io/revision'];
  if (Object.keys(annotations).length === 0) delete metadata['annotations'];
}

function loosened(object: unknown): Record<string, unknown> {
  if (!isObject(object)) return { object };
  const copy = clone(object);
  delete copy['status'];
  const metadata = copy['metadata'];
  if (!isObject(metadata)) return copy;
  delete metadata['resourceVersion'];
  dropRevision(metadata);
  if (Array.isArray(metadata['managedFields']))
    metadata['managedFields'] = metadata['managedFields'].filter(
      (entry) => !(isObject(entry) && entry['manager'] === 'kube-controller-manager'),
    );
  return copy;
}
