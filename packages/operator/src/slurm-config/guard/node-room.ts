/** MaxNodeCount: Slurm drops the records of nodes that no longer fit, with their jobs and the jobs that ask for them by name. Pure. */
import type { ConfContent } from './conf-content.ts';
import { type Hold, noJobs, wholeConfiguration } from './hold.ts';
import type { HeldSetting } from './settings-that-cost-jobs.ts';
import type { Change } from './slurm-work.ts';

/** MaxNodeCount is lowered only when every node fits. `leaving`: how many nodes of Slurm go with this change. */
export function maxNodeCountHolds(change: Change, leaving: number): HeldSetting[] {
  const { from, to, slurm } = change;
  const before = from.settings.get('maxnodecount');
  // Without the key Slurm drops every node that registered itself.
  const after = to.settings.get('maxnodecount') ?? '0';
  if (before === undefined || Number(after) >= Number(before)) return [];
  const stays = `MaxNodeCount stays ${before} instead of ${after}`;
  const hold = { kind: 'Setting', name: 'MaxNodeCount', jobs: noJobs } as const;
  const held = (cause: Hold['cause'], message: string): HeldSetting[] => [
    { key: 'MaxNodeCount', value: before, hold: { ...hold, cause, message } },
  ];
  if (slurm.kind === 'unknown')
    return held('unknown', `${stays}, because the number of nodes in Slurm is unknown: ${slurm.why}`);
  const { there, added, coming, registered } = nodesAfter(change, slurm, leaving);
  if (registered + coming === 0 || there + added + coming <= Number(after)) return [];
  const more = coming === 0 ? '' : ` and ${coming} more workers are about to register`;
  return held(
    'nodes',
    `${stays}, because Slurm has ${there + added} nodes${more}: Slurm would drop those that do not fit, with their jobs. It is lowered when they are removed.`,
  );
}

/** Nodes that slurm.conf names take the room of those that registered themselves: Slurm drops these, seen on 24.11 and 26.05. */
export function nodeRoomHolds(change: Change, leaving: number): Hold[] {
  const { from, to, slurm } = change;
  const most = from.settings.get('maxnodecount');
  const names = [...to.nodes.keys()].filter((name) => !from.nodes.has(name));
  // Without MaxNodeCount no node can have registered itself.
  if (most === undefined || names.length === 0) return [];
  const hold = { kind: 'Configuration', name: 'MaxNodeCount', jobs: noJobs } as const;
  if (slurm.kind === 'unknown')
    return [
      {
        ...hold,
        cause: 'unknown',
        message: `${wholeConfiguration.isHeld}, because it names ${names.length} more nodes, and it is unknown whether MaxNodeCount=${most} has room for them beside the nodes in Slurm: ${slurm.why}`,
      },
    ];
  // A value that is lower than the one in force is held first.
  const room = Math.max(Number(most), Number(to.settings.get('maxnodecount') ?? '0'));
  const { there, added, registered, ...workers } = nodesAfter(change, slurm, leaving);
  // Slurm turns away workers that have no room now.
  const free = Math.max(0, Number(most) - slurm.nodeCount - unlisted(from, slurm));
  const coming = Math.min(free, workers.coming);
  const all = there + added + coming;
  if (registered + coming === 0 || all <= room) return [];
  const more = coming === 0 ? '' : ` and ${coming} workers that are about to register`;
  return [
    {
      ...hold,
      cause: 'nodes',
      message: `${wholeConfiguration.isHeld}, because MaxNodeCount=${room} has no room for ${added} more nodes beside the ${there} that Slurm has${more}: Slurm would drop some of them, with their jobs. Set spec.maxNodeCount of the Controller to ${all} or more, or remove NodeName lines from extraConf.`,
    },
  ];
}

type KnownWork = Extract<Change['slurm'], { kind: 'known' }>;

/** What slurmctld would have to find room for. */
function nodesAfter({ from, to, expected }: Change, slurm: KnownWork, leaving: number) {
  const { names = [], absent = 0 } = expected ?? {};
  return {
    there: slurm.nodeCount - leaving,
    added: unlisted(to, slurm),
    /** A worker that registers between this decision and the new configuration gets jobs, and would be dropped with them. */
    coming: names.filter((name) => !slurm.nodes.has(name)).length + absent,
    /** Those that Slurm could drop. */
    registered: slurm.nodeCount - [...from.nodes.keys()].filter((name) => slurm.nodes.has(name)).length,
  };
}

/** Nodes of slurm.conf that Slurm does not list: those that it does not have yet, and those with State=FUTURE, which take room as well. */
const unlisted = ({ nodes }: ConfContent, slurm: KnownWork): number =>
  [...nodes.keys()].filter((name) => !slurm.nodes.has(name)).length;
