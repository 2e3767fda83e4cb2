/** v0.0.42 (Slurm 24.11 to 26.05): ping says `responding`, update_time takes a number, a cancel tells what went wrong. */
import { defineAdapter } from './adapter.ts';
import { readPing } from './read-cluster.ts';
import { abilities41, readers41 } from './v0.0.41.ts';

export const readers42 = { ...readers41, ping: readPing };
export const abilities42 = { ...abilities41, updateTime: true, cancelStatus: true, databasePing: true };
export const adapter42 = defineAdapter('v0.0.42', abilities42, readers42);
