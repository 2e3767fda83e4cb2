/** v0.0.45 (Slurm 26.05): `pinged` and `mode` are gone (42 does not use them), requeue and partitions by REST. */
import { defineAdapter } from './adapter.ts';
import { abilities44, readers44 } from './v0.0.44.ts';

export const adapter45 = defineAdapter(
  'v0.0.45',
  { ...abilities44, requeue: true, writePartitions: true },
  readers44,
);
