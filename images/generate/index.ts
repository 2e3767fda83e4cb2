/** Writes one Dockerfile per image and version. */
import type { ImageRecipe } from '../src/recipe.ts';
import { recipes } from '../src/recipes.ts';
import { dockerfile } from './dockerfile.ts';
import { operatorDockerfile } from './operator-dockerfile.ts';

export function generate(): Promise<ReadonlyMap<string, string>> {
  const files = new Map([['images/generated/operator/Dockerfile', operatorDockerfile()]]);
  for (const recipe of Object.values<ImageRecipe>(recipes))
    for (const version of recipe.versions)
      files.set(`images/generated/${recipe.name}-${version}/Dockerfile`, dockerfile(recipe, version));
  return Promise.resolve(files);
}
