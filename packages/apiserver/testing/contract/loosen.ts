/**
 * Where the recording was a race: outside the topic `controllers` a controller wrote the status of these kinds some time
 * between two steps, so their status, its managedFields entry and the resourceVersion are not compared after the create.
 */
import { clone, isObject } from '../../src/json.ts';
import type { RecordedStep } from './case.ts';

const kinds = new Set(['StatefulSet', 'Deployment', 'ReplicaSet', 'DaemonSet', 'PodDisruptionBudget', 'Job']);

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
    !(step.request?.method === 'POST') &&
    !(step.request?.path ?? '').includes('/status');
  return raced ? { recorded: loosened(recorded), actual: loosened(actual) } : { recorded, actual };
}

function loosened(object: unknown): unknown {
  if (!isObject(object)) return object;
  const copy = clone(object);
  delete copy['status'];
  const metadata = copy['metadata'];
  if (!isObject(metadata)) return copy;
  delete metadata['resourceVersion'];
  if (Array.isArray(metadata['managedFields']))
    metadata['managedFields'] = metadata['managedFields'].filter(
      (entry) => !(isObject(entry) && entry['manager'] === 'kube-controller-manager'),
    );
  return copy;
}
