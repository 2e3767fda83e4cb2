/** Inputs of builders: read-only objects from a cache. */
import type { DeepReadonly } from '@slurm-operator/kube';

export type Read<T> = DeepReadonly<T>;
