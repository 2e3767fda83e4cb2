import type { ImageRecipe } from './recipe.ts';
import { slurmctld, slurmdbd, slurmrestd } from './recipes/control.ts';
import { slurmd } from './recipes/slurmd.ts';

/** Every image, by name. */
export const recipes = { slurmctld, slurmd, slurmdbd, slurmrestd } as const satisfies Record<
  string,
  ImageRecipe
>;

export type ImageName = keyof typeof recipes;
