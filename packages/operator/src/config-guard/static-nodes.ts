/** Nodes that slurm.conf names itself (`NodeName=` in extraConf): those that go, and those that change. Pure. */
import { compressHostlist, expandHostlist } from '@slurm-operator/slurm';
import { type ConfEntry, namesIn, valueOf } from './conf-content.ts';
import { describeJobs, type HeldJobs, type Hold, heldJobs, noJobs } from './hold.ts';
import type { Change, SlurmWork } from './slurm-work.ts';

export interface HeldNodes {
  readonly holds: readonly Hold[];
  /** The lines that keep them, of those nodes alone. */
  readonly entries: readonly ConfEntry[];
}

/** `users`: held lines whose `Nodes=` may name them. */
export function heldNodes({ from, to, slurm }: Change, users: readonly ConfEntry[]): HeldNodes {
  const gone = [...from.nodes.keys()].filter((name) => !to.nodes.has(name));
  if (gone.length === 0) return { holds: [], entries: [] };
  const named = new Set(users.flatMap((user) => namesIn(valueOf(user, 'Nodes') ?? '')));
  const kept = new Set(
    gone.filter((name) => named.has(name) || slurm.kind === 'unknown' || hasJobs(slurm, name)),
  );
  const holds = gone.flatMap((name): Hold[] => {
    if (!kept.has(name)) return [];
    const jobs = jobsOn(slurm, name);
    const hold = { kind: 'Node', name, jobs } as const;
    if (slurm.kind === 'unknown')
      return [
        {
          ...hold,
          cause: 'unknown',
          message: `Node ${name} stays, because Slurm does not say whether it has jobs: ${slurm.why}`,
        },
      ];
    return jobs.ids.length > 0
      ? [
          {
            ...hold,
            cause: 'jobs',
            message: `Node ${name} stays, because it has ${describeJobs(jobs)}, or they ask for it by name. It goes when they have ended.`,
          },
        ]
      : [{ ...hold, cause: 'referenced', message: `Node ${name} stays, because a held partition names it.` }];
  });
  const lines = new Set([...kept].flatMap((name) => from.nodes.get(name) ?? []));
  return { holds, entries: [...lines].map((entry) => onlyNodes(entry, kept)) };
}

/** A node whose hardware changes in slurm.conf while jobs have parts of it. */
export interface StaticNodeChange {
  readonly node: string;
  readonly keys: readonly string[];
  readonly jobs: HeldJobs;
  /** Why Slurm does not say which jobs it has. */
  readonly why: string | undefined;
}

/** Slurm ends jobs whose allocation does not fit the node any more. */
const hardware = ['CPUs', 'Boards', 'Sockets', 'SocketsPerBoard', 'CoresPerSocket', 'ThreadsPerCore', 'Gres'];

export function staticNodeChange({ from, to, slurm }: Change): StaticNodeChange[] {
  return [...from.nodes].flatMap(([node, before]): StaticNodeChange[] => {
    const after = to.nodes.get(node);
    if (after === undefined) return [];
    const keys = hardware.filter((key) => valueOf(before, key) !== valueOf(after, key));
    if (keys.length === 0) return [];
    if (slurm.kind === 'unknown') return [{ node, keys, jobs: noJobs, why: slurm.why }];
    const jobs = heldJobs(slurm.jobs.filter((job) => job.active && job.nodes.includes(node)));
    return jobs.ids.length === 0 ? [] : [{ node, keys, jobs, why: undefined }];
  });
}

const jobsOn = (slurm: SlurmWork, node: string): HeldJobs =>
  slurm.kind === 'unknown' ? noJobs : heldJobs(slurm.jobs.filter((job) => job.nodes.includes(node)));

const hasJobs = (slurm: SlurmWork, node: string): boolean =>
  slurm.kind === 'known' && slurm.jobs.some((job) => job.nodes.includes(node));

/** Values that hold one item for each node of the line, in its order. */
const perNode = new Set(['nodeaddr', 'nodehostname', 'bcastaddr', 'port']);

/** The line of some of its nodes, with the addresses of those. */
function onlyNodes(entry: ConfEntry, kept: ReadonlySet<string>): ConfEntry {
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
