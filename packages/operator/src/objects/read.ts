/** What builders are given: objects out of a cache, which nobody may change. */
import type { DeepReadonly } from '@slurm-operator/kube';

export type Read<T> = DeepReadonly<T>;
