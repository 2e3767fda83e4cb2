/** Where a history has ended, without what no two histories share. */
import { label } from '@slurm-operator/api';
import { type ClusterWorld, isWorker } from './cluster-world.ts';

export interface HistoryEnd {
  readonly nodeSets: readonly string[];
  readonly pods: readonly string[];
  readonly nodes: readonly string[];
  readonly jobs: readonly string[];
  readonly reservations: readonly string[];
  readonly slurmConf: string;
}

export function endOf(world: ClusterWorld): HistoryEnd {
  const sets = world.nodeSets();
  const daemons = new Set(
    sets.filter(({ spec }) => spec.scalingMode === 'DaemonSet').map(({ metadata }) => metadata.name),
  );
  return {
    nodeSets: sets.map(
      ({ metadata }) => `${metadata.name}${metadata.deletionTimestamp === undefined ? '' : ' going'}`,
    ),
    pods: world.kube
      .list('pods')
      .filter(isWorker)
      .map((pod) => {
        const { nodeName } = pod['spec'] as { nodeName?: string };
        const set = pod.metadata.labels?.[label.instance] ?? '';
        // Which ordinals are in use depends on the way: a worker on a lost machine is replaced under another one.
        const where = daemons.has(set) ? nodeName : '';
        const going = pod.metadata.deletionTimestamp === undefined ? '' : ' going';
        // Revisions that mean the same keep the name of the first one.
        const newest = sets.find(({ metadata }) => metadata.name === set)?.status?.nodeSetHash;
        const revision = pod.metadata.labels?.[label.revision] === newest ? 'newest' : 'old';
        return `${set} ${where} ${revision}${going}`;
      })
      .toSorted(),
    nodes: [...world.slurm.nodes.values()]
      .map(({ owner, drained, down, reason }) => {
        const set = sets.find(({ metadata }) => metadata.uid === owner)?.metadata.name ?? owner;
        return [set, drained && 'drained', down && 'down', reason].filter(Boolean).join(' ');
      })
      .toSorted(),
    jobs: world.slurm.open().map(({ state, partitions }) => `${state} in ${partitions.join()}`),
    reservations: [...world.slurm.reservations.keys()].toSorted(),
    slurmConf: world.slurm.conf.text,
  };
}
