/** v0.0.44 (Slurm 25.11 and later): nodes can be created. */
import { defineAdapter } from './adapter.ts';
import { abilities43, readers43 } from './v0.0.43.ts';

export const readers44 = readers43;
export const abilities44 = { ...abilities43, createNodes: true };
export const adapter44 = defineAdapter('v0.0.44', abilities44, readers44);
