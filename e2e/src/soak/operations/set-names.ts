/** The NodeSets that may exist, and what is called after them. Pure. */

/** Two by count, one by machine; `c` is what NodeSet b is called after it was renamed. */
export const setNames = ['a', 'b', 'c', 'd'] as const;
export type SetName = (typeof setNames)[number];

/** The NodeSets of the beginning and of the end. */
export const lastingSets = ['a', 'b', 'd'] as const satisfies readonly SetName[];

/** Hostnames of workers: the NodeSet's own name, or this one after a change of hostname. */
export const otherHostname = (name: SetName): string => `${name}-x-`;

/** What Slurm calls its partition, before and after a change of its hostname. */
export const partitionsOf = (name: SetName): readonly string[] => [name, `${name}-x`];

/** Workers of NodeSet d have the names of their machines. */
export const workerIsOf = (worker: string, name: SetName): boolean =>
  name === 'd' ? worker.includes('-node-') : worker.startsWith(`${name}-`);
