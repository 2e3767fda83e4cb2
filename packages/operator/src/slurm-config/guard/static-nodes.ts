/** Nodes that slurm.conf names itself (`NodeName=` in extraConf): those that go, and those that change. Pure. */
import { compressHostlist, expandHostlist } from '@slurm-operator/slurm';
import { type ConfEntry, namesIn, valueOf } from './conf-content.ts';
import { describeJobs, type HeldJobs, type Hold, heldJobs, noJobs } from './hold.ts';
import type { Change, NodeClosing } from './slurm-work.ts';

export interface HeldNodes {
  readonly holds: readonly Hold[];
  /** The lines that keep them, of those nodes alone. */
  readonly entries: readonly ConfEntry[];
}

/** `users`: held lines whose `Nodes=` may name them. */
export function heldNodes(change: Change, users: readonly ConfEntry[]): HeldNodes {
  const { from } = change;
  const gone = goneNodes(change);
  const named = new Set(users.flatMap((user) => namesIn(valueOf(user, 'Nodes') ?? '')));
  const holds = gone.flatMap((name) => nodeHold(name, change, named.has(name)) ?? []);
  if (holds.length === 0) return { holds, entries: [] };
  // All of them or none: a text that changed with every job that ends would be tried again and again.
  const kept = new Set(gone);
  const lines = new Set(gone.flatMap((name) => from.nodes.get(name) ?? []));
  return { holds, entries: [...lines].map((entry) => onlyNodes(entry, kept)) };
}

const goneNodes = ({ from, to }: Change): string[] =>
  [...from.nodes.keys()].filter((name) => !to.nodes.has(name));

function nodeHold(name: string, { slurm }: Change, isNamed: boolean): Hold | undefined {
  const hold = { kind: 'Node', name, jobs: noJobs } as const;
  if (slurm.kind === 'unknown')
    return {
      ...hold,
      cause: 'unknown',
      message: `Node ${name} stays, because it is unknown whether it has jobs: ${slurm.why}`,
    };
  const jobs = heldJobs(slurm.jobs.filter((job) => job.nodes.includes(name)));
  if (jobs.ids.length > 0)
    return {
      ...hold,
      cause: 'jobs',
      jobs,
      message: `Node ${name} stays, because it has ${describeJobs(jobs)}, or they request it by name. It is removed when they have ended.`,
    };
  if (slurm.nodes.get(name)?.drained === false)
    return {
      ...hold,
      cause: 'closing',
      message: `Node ${name} has no jobs and is drained before it is removed, so that none starts meanwhile.`,
    };
  return isNamed
    ? { ...hold, cause: 'referenced', message: `Node ${name} stays, because a held partition names it.` }
    : undefined;
}

/**
 * Nodes whose line goes or changes start no new job before that: between the last look and the moment when slurmctld reads the file, one
 * could start and be lost. A pending job that asks for such a node by name still has to start there.
 */
export function nodeClosing(change: Change): NodeClosing {
  const { slurm } = change;
  if (slurm.kind === 'unknown') return { close: [], reopen: [] };
  const isAwaited = (name: string) => slurm.jobs.some((job) => !job.active && job.nodes.includes(name));
  const closing = new Set([
    ...goneNodes(change).filter((name) => !isAwaited(name)),
    ...changedNodes(change).map(({ node }) => node),
  ]);
  return {
    close: [...closing].filter((name) => slurm.nodes.get(name)?.drained === false),
    reopen: [...slurm.nodes].flatMap(([name, { byGuard }]) => (byGuard && !closing.has(name) ? name : [])),
  };
}

/** A node whose hardware changes in slurm.conf while jobs have parts of it, or could get some. */
export interface StaticNodeChange {
  readonly node: string;
  readonly keys: readonly string[];
  readonly jobs: HeldJobs;
  /** Why Slurm does not say which jobs it has. */
  readonly why: string | undefined;
}

/** Slurm ends jobs whose allocation does not fit the node any more. */
const hardware = ['CPUs', 'Boards', 'Sockets', 'SocketsPerBoard', 'CoresPerSocket', 'ThreadsPerCore', 'Gres'];

export function staticNodeChange(change: Change): StaticNodeChange[] {
  const { slurm } = change;
  return changedNodes(change).flatMap(({ node, keys }): StaticNodeChange[] => {
    if (slurm.kind === 'unknown') return [{ node, keys, jobs: noJobs, why: slurm.why }];
    const jobs = heldJobs(slurm.jobs.filter((job) => job.active && job.nodes.includes(node)));
    const isOpen = slurm.nodes.get(node)?.drained === false;
    return jobs.ids.length === 0 && !isOpen ? [] : [{ node, keys, jobs, why: undefined }];
  });
}

function changedNodes({ from, to }: Change): { readonly node: string; readonly keys: readonly string[] }[] {
  return [...from.nodes].flatMap(([node, before]) => {
    const after = to.nodes.get(node);
    if (after === undefined) return [];
    const keys = hardware.filter((key) => valueOf(before, key) !== valueOf(after, key));
    return keys.length === 0 ? [] : [{ node, keys }];
  });
}

/**
 * A slurmd that registered itself ends when it reads a slurm.conf with a line for its own name, with its jobs ("Duplicated NodeName", seen
 * on 24.11 and 26.05). slurmctld accepts that file, and so does a trial, whose slurmd has another name.
 */
export function takenNameHolds({ from, to, expected }: Change): Hold[] {
  const taken = (expected?.names ?? []).filter((name) => to.nodes.has(name) && !from.nodes.has(name));
  const [name] = taken.toSorted();
  if (name === undefined) return [];
  const more = taken.length === 1 ? '' : ` The same applies to ${taken.length - 1} more workers.`;
  return [
    {
      kind: 'Configuration',
      name,
      cause: 'taken',
      jobs: noJobs,
      message: `The configuration is not changed, because a line NodeName=${to.nodes.get(name)?.name ?? name} names worker ${name} of a NodeSet: its slurmd would end, with its jobs. Remove that name from extraConf; workers need no such line.${more}`,
    },
  ];
}

/** Values that hold one item for each node of the line, in its order. */
const perNode = new Set(['nodeaddr', 'nodehostname', 'bcastaddr', 'port']);

/** The line of some of its nodes, with the addresses of those. */
export function onlyNodes(entry: ConfEntry, kept: ReadonlySet<string>): ConfEntry {
  const names = namesIn(entry.name);
  const places = [...names.keys()].filter((at) => kept.has(names[at] ?? ''));
  if (places.length === names.length) return entry;
  const pick = (list: readonly string[]): string => compressHostlist(places.map((at) => list[at] ?? ''));
  return {
    name: pick(names),
    pairs: entry.pairs.map(({ key, value }) => {
      if (!perNode.has(key.toLowerCase())) return { key, value };
      const values = readable(value);
      return { key, value: values.length === names.length ? pick(values) : value };
    }),
  };
}

function readable(hostlist: string): string[] {
  try {
    return expandHostlist(hostlist);
  } catch {
    return [];
  }
}
