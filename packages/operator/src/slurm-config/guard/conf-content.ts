/** slurm.conf as the guard compares it: settings, and the records of partitions, NodeSets and nodes. Pure. */
import { expandHostlist } from '@slurm-operator/slurm';
import { type ParsedLine, parseSlurmConf, renderPairs, settingsOf } from '../parse.ts';

export type Pair = ParsedLine['pairs'][number];

/** One line such as `PartitionName=a Nodes=b State=UP`, with what a DEFAULT line before it adds. */
export interface ConfEntry {
  readonly name: string;
  /** Without the name; the last value of a key wins. */
  readonly pairs: readonly Pair[];
}

export interface ConfContent {
  /** Lower-cased key → value. */
  readonly settings: ReadonlyMap<string, string>;
  readonly partitions: ReadonlyMap<string, ConfEntry>;
  readonly nodeSets: ReadonlyMap<string, ConfEntry>;
  /** Node name → the NodeName line that names it. A line may name many. */
  readonly nodes: ReadonlyMap<string, ConfEntry>;
  /** Files that it includes: what they hold is not known. */
  readonly includes: readonly string[];
}

export function readConf(text: string): ConfContent {
  const settings = new Map<string, string>();
  const records = { partitionname: [], nodeset: [], nodename: [] } as Record<string, ConfEntry[]>;
  for (const { pairs } of parseSlurmConf(text)) {
    const own = settingsOf(pairs);
    for (const { key, value } of own) settings.set(key.toLowerCase(), value);
    const [first, ...rest] = pairs.slice(own.length);
    if (first !== undefined) records[first.key.toLowerCase()]?.push({ name: first.value, pairs: rest });
  }
  return {
    settings,
    partitions: byName(withDefaults(records['partitionname'] ?? [])),
    nodeSets: byName(records['nodeset'] ?? []),
    nodes: nodesOf(withDefaults(records['nodename'] ?? [])),
    includes: [...text.matchAll(/^[ \t]*include[ \t]+(\S+)/gim)].map((found) => found[1] ?? ''),
  };
}

/** The value of a key, whatever its case. */
export const valueOf = ({ pairs }: ConfEntry, key: string): string | undefined =>
  pairs.findLast((pair) => pair.key.toLowerCase() === key.toLowerCase())?.value;

/** The same entry with other values for some keys. */
export function withValues(entry: ConfEntry, values: Readonly<Record<string, string>>): ConfEntry {
  const replaced = new Set(Object.keys(values).map((key) => key.toLowerCase()));
  return {
    name: entry.name,
    pairs: [
      ...entry.pairs.filter(({ key }) => !replaced.has(key.toLowerCase())),
      ...Object.entries(values).map(([key, value]) => ({ key, value })),
    ],
  };
}

export const renderEntry = (key: string, { name, pairs }: ConfEntry): string =>
  renderPairs([{ key, value: name }, ...pairs]);

const byName = (entries: readonly ConfEntry[]): Map<string, ConfEntry> =>
  new Map(entries.map((entry) => [entry.name, entry]));

/** A DEFAULT line counts for the lines after it, until the next one changes it. */
function withDefaults(entries: readonly ConfEntry[]): ConfEntry[] {
  let defaults: readonly Pair[] = [];
  return entries.flatMap((entry) => {
    if (entry.name.toUpperCase() === 'DEFAULT') {
      defaults = lastOfEach([...defaults, ...entry.pairs]);
      return [];
    }
    return [{ name: entry.name, pairs: lastOfEach([...defaults, ...entry.pairs]) }];
  });
}

function lastOfEach(pairs: readonly Pair[]): Pair[] {
  return pairs.filter(
    ({ key }, at) => pairs.findLastIndex((other) => other.key.toLowerCase() === key.toLowerCase()) === at,
  );
}

function nodesOf(entries: readonly ConfEntry[]): Map<string, ConfEntry> {
  return new Map(entries.flatMap((entry) => namesIn(entry.name).map((name) => [name, entry] as const)));
}

/** Slurm refuses a list that cannot be read; here it counts as one name. */
export function namesIn(hostlist: string): string[] {
  try {
    return expandHostlist(hostlist);
  } catch {
    return [hostlist];
  }
}
