import type { ImageRecipe } from './recipe.ts';
import { slurmctld, slurmdbd, slurmrestd } from './recipes/control.ts';
import { login, slurmd } from './recipes/node.ts';
import { curl, ldap, mariadb } from './recipes/services.ts';

/** Every image, by name. */
export const recipes = {
  slurmctld,
  slurmd,
  slurmdbd,
  slurmrestd,
  login,
  mariadb,
  ldap,
  curl,
} as const satisfies Record<string, ImageRecipe>;

export type ImageName = keyof typeof recipes;
