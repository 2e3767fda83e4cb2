import type { BuildOptions } from '@slurm-operator/sandbox';
import { type BuiltImage, buildImage } from './build-image.ts';
import { buildOperatorImage } from './operator/build-operator-image.ts';
import { type ImageName, recipes } from './recipes.ts';

/** Every image in every version, each as it is done; what the cache has comes at once. */
export async function* buildAllImages(options: BuildOptions = {}): AsyncGenerator<BuiltImage> {
  yield buildOperatorImage(options);
  for (const name of Object.keys(recipes) as ImageName[])
    for (const version of recipes[name].versions) yield buildImage(name, version, options);
}
