/** QOS rows of a simulated slurmdbd, merged as slurmdbd does (contract suite, "writing a QOS"). */
import { bad, good, type Reply } from './reply.ts';
import type { Request } from './request.ts';
import { qos as newQos, tres as tracked } from './simulated-accounting.ts';
import type { Wire } from './wire-format.ts';

type Row = Record<string, unknown>;
interface Tres {
  readonly type: string;
  readonly name?: string;
  readonly count: number;
}

/** MariaDB compares names without case and trailing blanks. */
export const qosKey = (name: string) => name.trimEnd().toLowerCase();

export function putQos({ cluster, body }: Request): Reply {
  const known = cluster.accounting.qos;
  const rows = (body['qos'] ?? []) as (Row & { name: string; preempt?: { list?: string[] } })[];
  for (const row of rows)
    for (const other of row.preempt?.list ?? [])
      if (!known.has(qosKey(other)))
        return bad(
          cluster.release === '26.05' ? 422 : 500,
          2066,
          'Invalid qos specification',
          `Unable to resolve QOS: ${other}`,
        );
  for (const row of rows) {
    const key = qosKey(row.name);
    const current = known.get(key) ?? newQos(row.name, '', nextId(known));
    known.set(key, merge(current, row));
  }
  return good();
}

/** A deleted QOS leaves all preempt lists. */
export function deleteQos({ cluster, parameter }: Request): Reply {
  const known = cluster.accounting.qos;
  const removed = known.get(qosKey(parameter));
  if (removed === undefined)
    return cluster.release === '24.11' ? good({ removed_qos: [] }, ['Nothing found']) : { status: 304 };
  known.delete(qosKey(parameter));
  for (const row of known.values()) {
    const preempt = row['preempt'] as { list: string[] };
    row['preempt'] = { ...preempt, list: preempt.list.filter((name) => name !== removed['name']) };
  }
  for (const row of cluster.accounting.associations.values()) {
    const { qos, default: own } = row as { qos: string[]; default: { qos: string } };
    row['qos'] = qos.filter((name) => name !== removed['name']);
    if (own.qos === removed['name']) row['default'] = { ...own, qos: '' };
  }
  return good({ removed_qos: [removed['name']] });
}

function nextId(known: ReadonlyMap<string, Wire>): number {
  return Math.max(0, ...[...known.values()].map((row) => Number(row['id']))) + 1;
}

function merge(current: Row, row: Row): Row {
  const { flags = [], preempt = {}, ...fields } = row as Row & { preempt?: Row };
  const { list = [], mode = ['DISABLED'], ...rest } = preempt as { list?: string[]; mode?: string[] };
  const before = current['preempt'] as Row;
  return {
    ...mergeFields(current, fields),
    name: current['name'],
    flags,
    preempt: { ...mergeFields(before, rest), mode, ...(list.length > 0 && { list }) },
  };
}

/** What is left out stays; "infinite" unsets; TRES are merged by name. */
function mergeFields(current: Row, change: Row): Row {
  const merged = { ...current };
  for (const [key, value] of Object.entries(change)) {
    const before = current[key];
    if (Array.isArray(value)) merged[key] = mergeTres((before ?? []) as Tres[], value as Tres[]);
    else if (isNumber(value))
      merged[key] = value.infinite === true ? unset(key) : { ...value, infinite: false };
    else if (typeof value === 'object' && value !== null)
      merged[key] = mergeFields((before ?? {}) as Row, value as Row);
    else merged[key] = value;
  }
  return merged;
}

const isNumber = (value: unknown): value is { set?: boolean; infinite?: boolean } =>
  typeof value === 'object' && value !== null && 'set' in value;

const defaults: Readonly<Record<string, number>> = { priority: 0, usage_factor: 1 };
const unset = (key: string) =>
  key in defaults
    ? { set: true, infinite: false, number: defaults[key] }
    : { set: false, infinite: true, number: 0 };

function mergeTres(before: readonly Tres[], change: readonly Tres[]): Tres[] {
  const key = ({ type, name = '' }: Tres) => `${type}/${name}`;
  const counts = new Map(before.map((tres) => [key(tres), tres]));
  for (const tres of change) {
    if (!tracked.some(({ type, name }) => type === tres.type && name === (tres.name ?? ''))) continue;
    if (tres.count === -1) counts.delete(key(tres));
    else counts.set(key(tres), tres);
  }
  return [...counts.values()];
}
