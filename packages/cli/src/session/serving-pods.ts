/** Which of several pods to connect to. Pure. */
import type { Live, Pod } from '@slurm-operator/kube';

export const isReady = ({ status }: Live<Pod>): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

export const isLeaving = ({ metadata }: Live<Pod>): boolean => metadata.deletionTimestamp !== undefined;

/** The best first: those that stay before those that end, then the ready ones. Of equals, `first` and the name decide. */
export const servingFirst = (
  found: readonly Live<Pod>[],
  first: (pod: Live<Pod>) => boolean = () => false,
): readonly Live<Pod>[] =>
  found.toSorted(
    (a, b) =>
      Number(isLeaving(a)) - Number(isLeaving(b)) ||
      Number(isReady(b)) - Number(isReady(a)) ||
      Number(first(b)) - Number(first(a)) ||
      a.metadata.name.localeCompare(b.metadata.name, 'en', { numeric: true }),
  );
