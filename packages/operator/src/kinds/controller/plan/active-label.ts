/**
 * The label that upstream puts on the pod with the active slurmctld. Nothing here depends on it: Services reach the active one by its
 * readiness, also while no operator runs. Services, monitors and scripts of users that select it go on to work.
 */
import { label } from '@slurm-operator/api';
import type { PodFacts } from '../../../framework/status/pods.ts';

export interface ActiveLabel {
  readonly pod: string;
  /** Null removes the label. */
  readonly value: 'true' | null;
}

/** Only the active slurmctld is ready. While that is none or, for a moment, two, the labels stay as they are. */
export function activeLabels(pods: readonly Pick<PodFacts, 'name' | 'ready' | 'labels'>[]): ActiveLabel[] {
  const ready = pods.filter((pod) => pod.ready);
  if (ready.length !== 1) return [];
  const [active] = ready;
  return pods.flatMap(({ name, labels }): ActiveLabel[] => {
    const value = labels[label.activeController];
    if (name === active?.name) return value === 'true' ? [] : [{ pod: name, value: 'true' }];
    return value === undefined ? [] : [{ pod: name, value: null }];
  });
}
