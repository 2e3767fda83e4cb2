/** Field selectors of built-in kinds. */
import type { KubeObject } from '../../api/types.ts';

type Reader = (object: KubeObject) => string;

/** Readers for plain paths; unset reads as the empty text, and false as "false" where the API says so. */
export function fieldTexts(...paths: readonly string[]): Readonly<Record<string, Reader>> {
  return Object.fromEntries(paths.map((path) => [path, reader(path)]));
}

const BOOLEAN = new Set(['spec.hostNetwork', 'spec.unschedulable']);
const NUMBER = new Set(['status.succeeded']);

function reader(path: string): Reader {
  const unset = BOOLEAN.has(path) ? 'false' : NUMBER.has(path) ? '0' : '';
  const steps = path.split('.');
  return (object) => {
    let value: unknown = object;
    for (const step of steps) value = (value as Record<string, unknown> | undefined)?.[step];
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : unset;
  };
}

const reporter = reader('reportingComponent');

const succeeded = reader('status.succeeded');

/** Selected by another name than it is stored under. */
export const jobFields: Readonly<Record<string, Reader>> = { 'status.successful': succeeded };

/** The same fields by the names of events.k8s.io. */
export const newEventFields = fieldTexts(
  'regarding.kind',
  'regarding.namespace',
  'regarding.name',
  'regarding.uid',
  'regarding.apiVersion',
  'regarding.resourceVersion',
  'regarding.fieldPath',
  'reason',
  'reportingController',
  'type',
);

export const eventFields: Readonly<Record<string, Reader>> = {
  ...fieldTexts(
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'type',
  ),
  source: (object) => (object['source'] as { component?: string } | undefined)?.component ?? reporter(object),
};
