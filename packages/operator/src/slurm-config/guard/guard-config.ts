/**
 * The guard of every configuration change: what may be put in force now, so that no job is lost. What would cost a job stays
 * beside the desired lines until Slurm reports that nothing needs it any more. Pure: text and facts in, text and holds out.
 */
import {
  type ConfContent,
  type ConfEntry,
  namesIn,
  readConf,
  renderEntry,
  valueOf,
  withValues,
} from './conf-content.ts';
import { describeJobs, type Hold, heldJobs, moveOrCancel, noJobs, wholeConfiguration } from './hold.ts';
import { jobsOfMissingNodes } from './missing-nodes.ts';
import { maxNodeCountHolds, nodeRoomHolds } from './node-room.ts';
import { partitionsOfSlurmAlone } from './partitions-of-slurm-alone.ts';
import { settingHolds } from './settings-that-cost-jobs.ts';
import {
  type Change,
  type ExpectedWorkers,
  isIn,
  type NodeClosing,
  type Released,
  type SlurmWork,
} from './slurm-work.ts';
import {
  heldNodes,
  nodeClosing,
  type StaticNodeChange,
  staticNodeChange,
  takenNameHolds,
} from './static-nodes.ts';

export interface GuardInput {
  /** The slurm.conf that slurmctld was told to read last; undefined before the first. */
  readonly inForce: string | undefined;
  readonly desired: string;
  readonly slurm: SlurmWork;
  /** Partitions whose jobs the user gave up: all of them, or those that do not run yet. */
  readonly released?: Released;
  /** Slurm's name of a NodeSet that is being deleted → how many workers it still has. */
  readonly workers?: ReadonlyMap<string, number>;
  readonly expected?: ExpectedWorkers | undefined;
  /** slurmctld will read its files again although this text stays the same: another file has changed. */
  readonly rereads?: boolean;
  /** The state of slurmctld outlives its pod. @default true */
  readonly keepsState?: boolean;
}

export interface GuardedConfig {
  /** What may be put in force now. */
  readonly text: string;
  /** What of it is not as desired, and why; empty when the text is the desired one. */
  readonly holds: readonly Hold[];
  /** Nodes that must start no new job before the rest may be put in force. */
  readonly nodes: NodeClosing;
}

export function guardConfig(input: GuardInput): GuardedConfig {
  const { inForce, desired, slurm, expected, rereads = false, keepsState = true } = input;
  const change: Change = {
    from: readConf(inForce ?? desired),
    to: readConf(desired),
    slurm,
    keepsState,
    ...(expected && { expected }),
  };
  const closing = nodeClosing(change);
  if (inForce === undefined || (inForce === desired && !rereads))
    return { text: desired, holds: [], nodes: closing };

  // 1. What cannot stand beside the desired lines: then everything waits.
  const { released = new Map(), workers = new Map() } = input;
  const whole = [
    ...partitionsOfSlurmAlone(change, wholeConfiguration),
    ...jobsOfMissingNodes(change, released, wholeConfiguration),
    ...staticNodeHolds(staticNodeChange(change)),
    ...takenNameHolds(change),
  ];
  if (whole.length > 0) return { text: inForce, holds: whole, nodes: closing };

  // 2. Partitions that have jobs, or may get some while they go.
  const leaving = new Map([...workers].filter(([name, count]) => count > 0 && released.get(name) !== 'all'));
  const partitions = partitionHolds(change, released, leaving);
  const heldPartitions = partitions.map(({ name }) => closed(entryOf(change.from.partitions, name)));

  // 3. What those partitions refer to, and what lines that stay refer to.
  const nodeSets = nodeSetHolds(change, heldPartitions, leaving);
  const heldSets = nodeSets.map(({ name }) => entryOf(change.from.nodeSets, name));
  const nodes = heldNodes(change, [...heldPartitions, ...heldSets]);

  // 4. New nodes must not push others out. Nodes without a hold go with this change.
  const stay = nodes.entries.length > 0 ? change.from.nodes : change.to.nodes;
  const going = [...change.from.nodes.keys()].filter((name) => !stay.has(name) && hasNode(slurm, name));
  const room = nodeRoomHolds(change, going.length);
  if (room.length > 0) return { text: inForce, holds: room, nodes: closing };

  // 5. Keys whose change makes Slurm lose jobs or nodes.
  const settings = [...settingHolds(change), ...maxNodeCountHolds(change, going.length)];

  const holds = [...partitions, ...nodeSets, ...nodes.holds, ...settings.map(({ hold }) => hold)];
  if (holds.length === 0) return { text: desired, holds, nodes: closing };
  return {
    holds,
    nodes: closing,
    text: compose(
      desired,
      [
        ...nodes.entries.map((entry) => renderEntry('NodeName', entry)),
        ...heldSets.map((entry) => renderEntry('NodeSet', entry)),
        ...heldPartitions.map((entry) => renderEntry('PartitionName', entry)),
      ],
      settings.map(({ key, value }) => `${key}=${value}`),
    ),
  };
}

const hasNode = (slurm: SlurmWork, node: string): boolean => slurm.kind === 'known' && slurm.nodes.has(node);

/** Whether Slurm must be asked before the desired configuration may be put in force. */
export function needsSlurm(inForce: string | undefined, desired: string): boolean {
  const { holds } = guardConfig({ inForce, desired, slurm: { kind: 'unknown', why: '' } });
  return holds.some(({ cause }) => cause === 'unknown');
}

/**
 * Held lines come first, because a DEFAULT line of the user counts for everything after it; held settings come last, because
 * the last value counts.
 */
function compose(desired: string, records: readonly string[], settings: readonly string[]): string {
  const why = '# The operator keeps these until Slurm no longer needs them: see the condition ConfigApplied.';
  return [
    ...(records.length === 0 ? [] : ['### HELD BACK ###', why, ...records, '']),
    desired.trimEnd(),
    ...(settings.length === 0 ? [] : ['#', '### HELD BACK ###', why, ...settings]),
    '',
  ].join('\n');
}

function partitionHolds(
  { from, to, slurm }: Change,
  released: Released,
  leaving: ReadonlyMap<string, number>,
): Hold[] {
  const gone = [...from.partitions.keys()].filter((name) => !to.partitions.has(name));
  const target = moveTarget(from, to);
  return gone.flatMap((name): Hold[] => {
    const release = released.get(name);
    if (release === 'all') return [];
    if (slurm.kind === 'unknown')
      return [
        {
          kind: 'Partition',
          name,
          cause: 'unknown',
          jobs: noJobs,
          message: `Partition ${name} stays, closed to new jobs, because it is unknown whether it has jobs: ${slurm.why}`,
        },
      ];
    const blocking = slurm.jobs.filter((job) => isIn(job, name) && (job.active || release === undefined));
    if (blocking.length > 0) {
      const jobs = heldJobs(blocking);
      return [
        {
          kind: 'Partition',
          name,
          cause: 'jobs',
          jobs,
          message: `Partition ${name} stays, closed to new jobs, because it has ${describeJobs(jobs)}. ${moveOrCancel(name, jobs, target)}`,
        },
      ];
    }
    const workers = leaving.get(name);
    if (workers !== undefined)
      return [
        {
          kind: 'Partition',
          name,
          cause: 'workers',
          jobs: noJobs,
          message: `Partition ${name} stays, closed to new jobs, until the ${workers} remaining workers of its NodeSet are removed.`,
        },
      ];
    if (slurm.partitions.get(name) !== true || release !== undefined) return [];
    return [
      {
        kind: 'Partition',
        name,
        cause: 'closing',
        jobs: noJobs,
        message: `Partition ${name} has no jobs and is closed to new ones before it is removed. If it stays open, close it with "scontrol update partition=${name} state=drain".`,
      },
    ];
  });
}

/** Where jobs could move: the partition that is new, after a rename; otherwise the default one. */
function moveTarget(from: ConfContent, to: ConfContent): string | undefined {
  const added = [...to.partitions.keys()].filter((name) => !from.partitions.has(name));
  if (added.length === 1) return added[0];
  return [...to.partitions.values()].find((one) => /^yes$/i.test(valueOf(one, 'Default') ?? ''))?.name;
}

/** Jobs that are there go on and those that wait may start, but no new ones are accepted; seen on 24.11 and 26.05. */
function closed(partition: ConfEntry): ConfEntry {
  const state = valueOf(partition, 'State')?.toUpperCase();
  return withValues(partition, {
    Default: 'NO',
    State: state === 'DOWN' || state === 'INACTIVE' ? 'INACTIVE' : 'DRAIN',
  });
}

/** slurmctld ends on a partition that names a NodeSet that is not there. */
function nodeSetHolds(
  { from, to }: Change,
  heldPartitions: readonly ConfEntry[],
  leaving: ReadonlyMap<string, number>,
): Hold[] {
  const gone = [...from.nodeSets.keys()].filter((name) => !to.nodeSets.has(name));
  return gone.flatMap((name): Hold[] => {
    const names = (one: ConfEntry): boolean => namesIn(valueOf(one, 'Nodes') ?? '').includes(name);
    const held = heldPartitions.find(names);
    const user = held ?? [...to.partitions.values()].find(names);
    const hold = { kind: 'NodeSet', name, jobs: noJobs } as const;
    if (user === undefined && leaving.has(name))
      return [
        {
          ...hold,
          cause: 'workers',
          message: `NodeSet ${name} stays until its ${leaving.get(name)} remaining workers are removed.`,
        },
      ];
    if (user === undefined) return [];
    const advice = held === undefined ? ': remove it from spec.extraConf, or correct it' : '';
    return [
      {
        ...hold,
        cause: 'referenced',
        message: `NodeSet ${name} stays, because partition ${user.name} names it${advice}.`,
      },
    ];
  });
}

const staticNodeHolds = (changed: readonly StaticNodeChange[]): Hold[] =>
  changed.map(({ node, keys, jobs, why }) => ({
    kind: 'Configuration',
    name: node,
    cause: why !== undefined ? 'unknown' : jobs.ids.length > 0 ? 'jobs' : 'closing',
    jobs,
    message:
      why === undefined
        ? jobs.ids.length === 0
          ? `The configuration stays as it is until node ${node} is drained, because its ${keys.join(' and ')} change, and a job that started meanwhile would end.`
          : `The configuration is not changed, because ${keys.join(' and ')} of node ${node} would change, and Slurm would end its ${describeJobs(jobs)}. The node is drained, and changes when they have ended.`
        : `The configuration is not changed, because ${keys.join(' and ')} of node ${node} would change, and it is unknown whether it has jobs: ${why}`,
  }));

function entryOf(entries: ReadonlyMap<string, ConfEntry>, name: string): ConfEntry {
  const entry = entries.get(name);
  if (entry === undefined) throw new Error(`${name} is not in the configuration in force`);
  return entry;
}
