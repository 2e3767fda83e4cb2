/** Some recorded answers were cut down for size; this cuts an actual answer down in the same way. */
import { isObject } from '../../src/api/json.ts';
import type { RecordedStep } from './case.ts';
import { loosenControllerWrites, loosenTiming, maskNetwork } from './loosen.ts';

type Reduced = { readonly recorded: unknown; readonly actual: unknown };

/** `raced`: controllers run beside the server, so what they write is there sooner or later than in the recording. */
export function reduceBody(topic: string, step: RecordedStep, answered: unknown, raced: boolean): Reduced {
  const timed = topic === 'controllers';
  const body = raced ? maskNetwork(step.body) : step.body;
  const recorded = timed ? loosenTiming(body) : body;
  const actual = timed ? loosenTiming(answered) : answered;
  if (step.trimmed === undefined)
    return raced ? loosenControllerWrites(topic, step, recorded, actual) : { recorded, actual };
  return { recorded, actual: reduceTo(String(step.trimmed), recorded, actual) };
}

export function reduceEvents(topic: string, step: RecordedStep, received: readonly unknown[]): Reduced {
  const timed = topic === 'controllers';
  const recorded = (timed ? loosenTiming(step.events ?? []) : (step.events ?? [])) as readonly unknown[];
  const actual = (timed ? loosenTiming(received) : received) as readonly unknown[];
  if (step.trimmed === undefined) return { recorded, actual };
  return { recorded, actual: actual.map((event, index) => reduceEvent(recorded[index], event)) };
}

function reduceTo(how: string, recorded: unknown, actual: unknown): unknown {
  const items = isObject(actual) && Array.isArray(actual['items']) ? (actual['items'] as unknown[]) : [];
  switch (how) {
    case 'items reduced to names':
      return { ...(actual as object), items: items.map((item) => at(item, 'metadata', 'name')) };
    case 'items reduced to namespace/name':
      return {
        ...(actual as object),
        items: items.map(
          (item) => `${text(item, 'metadata', 'namespace')}/${text(item, 'metadata', 'name')}`,
        ),
      };
    case 'items reduced to name, labels, ownerReferences, image, phase':
      return { ...(actual as object), items: items.map(summary) };
    case 'names':
      return items.map((item) => at(item, 'metadata', 'name'));
    case 'number of pods':
      return items.length;
    case 'data removed':
      return { ...(actual as object), data: at(recorded, 'data') };
    case 'status only':
      return isObject(recorded) && 'status' in recorded
        ? { status: at(actual, 'status') }
        : at(actual, 'status');
    case 'reduced: no descriptions, of rows only the cells, without ages':
      return project(recorded, withoutAges(recorded, actual));
    case 'reduced to path and schema names and the Widget schema':
      return openApiNames(recorded, actual);
    default:
      if (Array.isArray(recorded)) return items.map((item, index) => flat(recorded[index], item));
      if (
        isObject(recorded) &&
        !('metadata' in recorded) &&
        !('kind' in recorded) &&
        isObject(actual) &&
        'spec' in actual &&
        !('spec' in recorded)
      )
        return flat(recorded, actual);
      return project(recorded, actual);
  }
}

/** Rows that are all text were recorded without the cell of their age. */
function withoutAges(recorded: unknown, actual: unknown): unknown {
  const columns = at(actual, 'columnDefinitions');
  const rows = at(actual, 'rows');
  if (!Array.isArray(columns) || !Array.isArray(rows)) return actual;
  const age = columns.findIndex((column) => at(column, 'name') === 'Age');
  const cut = (row: unknown, index: number): unknown => {
    const cells = at(row, 'cells');
    const wanted = at(recorded, 'rows', String(index), 'cells');
    if (!Array.isArray(cells) || !Array.isArray(wanted) || wanted.length !== cells.length - 1) return row;
    return { ...(row as object), cells: cells.filter((_cell, place) => place !== age) };
  };
  return { ...(actual as object), rows: rows.map(cut) };
}

/** Only the fields that were recorded; of a list with names only the entries that were recorded. */
function project(recorded: unknown, actual: unknown): unknown {
  if (Array.isArray(recorded) && Array.isArray(actual)) {
    const key = ['name', 'resource', 'version'].find((name) =>
      recorded.every((item) => at(item, name) !== undefined || at(item, 'metadata', name) !== undefined),
    );
    const pick = (item: unknown) => at(item, key ?? '') ?? at(item, 'metadata', key ?? '');
    if (recorded.every((item) => typeof item === 'string') && recorded.length !== actual.length)
      return actual.filter((item) => recorded.includes(item));
    if (key === undefined && recorded.length === actual.length)
      return actual.map((item, index) => project(recorded[index], item));
    if (key === undefined || recorded.length === 0) return actual;
    return actual
      .filter((item) => recorded.some((one) => pick(one) === pick(item)))
      .map((item) =>
        project(
          recorded.find((one) => pick(one) === pick(item)),
          item,
        ),
      );
  }
  if (!isObject(recorded) || !isObject(actual)) return actual;
  // A key of fieldsV1 that holds a uid is recorded with its mask.
  const masked = Object.keys(recorded).find((key) => /^k:.*</.test(key));
  const place = (key: string) => (key in recorded ? key : key.startsWith('k:') ? masked : undefined);
  return Object.fromEntries(
    Object.entries(actual)
      .filter(([key]) => place(key) !== undefined)
      .map(([key, value]) => [key, project(recorded[place(key) ?? ''], value)]),
  );
}

function summary(item: unknown): Record<string, unknown> {
  return withoutUndefined({
    name: at(item, 'metadata', 'name'),
    labels: at(item, 'metadata', 'labels'),
    ownerReferences: at(item, 'metadata', 'ownerReferences'),
    image: at(item, 'spec', 'containers', '0', 'image'),
    phase: at(item, 'status', 'phase'),
  });
}

/** Named values from their places, for the names that were recorded. */
function flat(recorded: unknown, item: unknown): Record<string, unknown> {
  const places: Record<string, unknown> = {
    name: at(item, 'metadata', 'name'),
    uid: at(item, 'metadata', 'uid'),
    labels: at(item, 'metadata', 'labels'),
    annotations: at(item, 'metadata', 'annotations'),
    ownerReferences: at(item, 'metadata', 'ownerReferences'),
    revision: at(item, 'revision'),
    replicas: at(item, 'spec', 'replicas'),
    image: at(item, 'spec', 'containers', '0', 'image'),
    phase: at(item, 'status', 'phase'),
    status: at(item, 'status'),
  };
  const keys = isObject(recorded) ? Object.keys(recorded) : ['name'];
  return withoutUndefined(Object.fromEntries(keys.map((key) => [key, places[key]])));
}

function reduceEvent(recorded: unknown, event: unknown): unknown {
  if (isObject(recorded) && 'object' in recorded) return project(recorded, event);
  const object = at(event, 'object');
  const conditions = at(object, 'status', 'conditions');
  const ready = Array.isArray(conditions) ? conditions.find((one) => at(one, 'type') === 'Ready') : undefined;
  return withoutUndefined({
    type: at(event, 'type'),
    name: at(object, 'metadata', 'name'),
    uid: at(object, 'metadata', 'uid'),
    image: at(object, 'spec', 'containers', '0', 'image'),
    phase: at(object, 'status', 'phase'),
    ready: at(ready, 'status'),
    deleting: at(object, 'metadata', 'deletionTimestamp') !== undefined,
    revision: at(object, 'metadata', 'labels', 'controller-revision-hash'),
  });
}

function openApiNames(recorded: unknown, actual: unknown): unknown {
  if (!isObject(actual) || !isObject(recorded)) return actual;
  const schemas = at(actual, 'components', 'schemas');
  const reduced: Record<string, unknown> = { ...actual };
  if (isObject(actual['paths'])) reduced['paths'] = Object.keys(actual['paths']).toSorted();
  if (isObject(schemas) && Array.isArray(recorded['schemas']))
    reduced['schemas'] = Object.keys(schemas).toSorted();
  const widget = Object.keys(recorded).find((key) => /widget/i.test(key));
  if (widget !== undefined && isObject(schemas))
    reduced[widget] = Object.entries(schemas).find(([key]) => key.endsWith('Widget'))?.[1];
  return project(recorded, reduced);
}

export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

function text(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

function withoutUndefined(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}
