/**
 * What is in force when the ConfigMap was deleted or edited by someone else. Slurm's own partitions and nodes, and what the status says
 * was held, stand in for the lines that are missing. Pure.
 */
import { readConf } from './conf-content.ts';
import type { Hold } from './hold.ts';
import type { SlurmWork } from './slurm-work.ts';

export interface Remains {
  /** The slurm.conf of the ConfigMap as it is now; undefined where it is gone. */
  readonly text: string | undefined;
  readonly desired: string;
  /** What the status says is held. */
  readonly held: readonly HeldName[];
  readonly slurm: SlurmWork;
  /** Where slurmctld listens, as the status says. */
  readonly port?: number | undefined;
}

export type HeldName = Pick<Hold, 'kind' | 'name'>;

/** Slurm's own limit of MaxNodeCount. */
export const mostNodes = 65_533;

export function recoverInForce({ text, desired, held, slurm, port }: Remains): string {
  const base = text ?? desired;
  const conf = readConf(base);
  const names = (kind: HeldName['kind']) => held.flatMap((item) => (item.kind === kind ? item.name : []));
  const known = slurm.kind === 'known' ? slurm : undefined;
  const partitions = new Set([...names('Partition'), ...(known?.partitions.keys() ?? [])]).difference(
    new Set(conf.partitions.keys()),
  );
  const setsOf = (partition: string): string[] => {
    const sets = known?.partitionSets.get(partition) ?? [];
    return known !== undefined ? [...sets] : names('NodeSet').filter((name) => name === partition);
  };
  const sets = new Set([...names('NodeSet'), ...[...partitions].flatMap(setsOf)]).difference(
    new Set(conf.nodeSets.keys()),
  );
  const nodes = [...(known?.nodes ?? [])].filter(([name]) => !conf.nodes.has(name));
  return [
    base.trimEnd(),
    ...nodes.flatMap(([, { line }]) => line ?? []),
    // The operator writes the feature of a set like its name.
    ...[...sets].map((name) => `NodeSet=${name} Feature=${name}`),
    ...[...partitions].map((name) => {
      const members = setsOf(name);
      return `PartitionName=${name}${members.length === 0 ? '' : ` Nodes=${members.join(',')}`}`;
    }),
    ...(text === undefined ? maxNodeCount(Number(conf.settings.get('maxnodecount') ?? 0), slurm) : []),
    ...(text === undefined && port !== undefined ? [`SlurmctldPort=${port}`] : []),
    '',
  ].join('\n');
}

/** Which one was in force is not known; every node that Slurm has must still fit. */
function maxNodeCount(desired: number, slurm: SlurmWork): string[] {
  const least = slurm.kind === 'known' ? slurm.nodeCount : mostNodes;
  return least > desired ? [`MaxNodeCount=${least}`] : [];
}
