/** v0.0.43 (Slurm 25.05 and later): a node's topology, reservations can be written. */
import { defineAdapter } from './adapter.ts';
import { abilities42, readers42 } from './v0.0.42.ts';

export const readers43 = readers42;
export const abilities43 = { ...abilities42, nodeTopology: true, writeReservations: true };
export const adapter43 = defineAdapter('v0.0.43', abilities43, readers43);
