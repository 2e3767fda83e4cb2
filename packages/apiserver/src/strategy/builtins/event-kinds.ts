/** Events: one resource, read and written through two API groups with different field names. */

import { qualifiedName } from '@slurm-operator/kubernetes-values';
import type { FieldFault } from '../../api/errors.ts';
import { invalid } from '../../api/errors.ts';
import { invalidValue, required } from '../../api/fault.ts';
import { equal } from '../../api/json.ts';
import { untyped } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { BuiltinHooks } from './define.ts';

/** Names of the same field: core first, events.k8s.io second. */
const RENAMED = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const;

/** Texts that core writes empty and events.k8s.io leaves out. */
const EMPTY_IN_CORE = ['reportingComponent', 'reportingInstance'] as const;

export function toCoreEvent(event: KubeObject): KubeObject {
  const core = renamed(event, (pair) => [pair[1], pair[0]]);
  for (const key of EMPTY_IN_CORE) core[key] ??= '';
  return { ...core, kind: 'Event', apiVersion: 'v1' };
}

export function fromCoreEvent(core: KubeObject): KubeObject {
  const event = renamed(core, (pair) => [pair[0], pair[1]]);
  for (const key of ['reportingController', 'reportingInstance']) if (event[key] === '') delete event[key];
  return { ...event, kind: 'Event', apiVersion: 'events.k8s.io/v1' };
}

function renamed(
  object: KubeObject,
  direction: (pair: (typeof RENAMED)[number]) => readonly [string, string],
): KubeObject {
  const names = new Map(RENAMED.map(direction));
  return untyped(
    Object.fromEntries(Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value])),
  );
}

const MAXIMUM_NOTE = 1024;
const MAXIMUM_NAME = 128;

/** Checks an event in its core form; faults name the kind without a group, whichever group was used. */
function check(core: KubeObject, strict: boolean): void {
  const faults = strict || core['eventTime'] ? newStyleFaults(core) : oldStyleFaults(core);
  if (strict) {
    if (!core['eventTime']) faults.splice(0, faults.length, required('eventTime'));
    else if (core['type'] !== 'Normal' && core['type'] !== 'Warning')
      faults.push(invalidValue('type', '', `has invalid value: ${textOf(core['type'])}`));
  }
  if (faults.length > 0) throw invalid({ group: '', kind: 'Event' }, core.metadata.name ?? '', faults);
}

function oldStyleFaults(core: KubeObject): FieldFault[] {
  const namespace = (core['involvedObject'] as { namespace?: string } | undefined)?.namespace ?? '';
  const own = core.metadata.namespace ?? '';
  // Events about things without a namespace are kept in the default one.
  return namespace === own || (namespace === '' && own === 'default')
    ? []
    : [invalidValue('involvedObject.namespace', namespace, 'does not match event.namespace')];
}

function newStyleFaults(core: KubeObject): FieldFault[] {
  const faults: FieldFault[] = [];
  const controller = textOf(core['reportingComponent']);
  if (controller === '') faults.push(required('reportingController'));
  for (const text of qualifiedName(controller))
    faults.push(invalidValue('reportingController', controller, text));
  for (const key of ['reportingInstance', 'action', 'reason'] as const) {
    const value = textOf(core[key]);
    if (value === '') faults.push(required(key));
    if (value.length > MAXIMUM_NAME)
      faults.push(invalidValue(key, '', `can have at most ${MAXIMUM_NAME} characters`));
  }
  if (textOf(core['message']).length > MAXIMUM_NOTE)
    faults.push(invalidValue('message', '', `can have at most ${MAXIMUM_NOTE} characters`));
  return faults;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export const coreEventHooks: BuiltinHooks = {
  validate(object) {
    check(object, false);
    return [];
  },
};

/** Of an event of the new API only its series may change. */
const MUTABLE = ['metadata', 'series', 'kind', 'apiVersion'];

export const eventsGroupHooks: BuiltinHooks = {
  validate(object) {
    check(toCoreEvent(object), true);
    return [];
  },
  validateUpdate(object, old) {
    const [now, before] = [toCoreEvent(object), toCoreEvent(old)];
    const changed = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
      (key) => !MUTABLE.includes(key) && !equal(now[key] ?? '', before[key] ?? ''),
    );
    const faults = changed.map((key) => invalidValue(key, now[key] ?? '', 'field is immutable'));
    if (faults.length > 0) throw invalid({ group: '', kind: 'Event' }, now.metadata.name ?? '', faults);
    return [];
  },
};
