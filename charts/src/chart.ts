import { fileURLToPath } from 'node:url';

export type ChartName = 'slurm-operator-crds' | 'slurm-operator' | 'slurm';

/** The directory of a chart. */
export const chart = (name: ChartName): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
