/** `node images/src/main.ts [name [version]]`: builds one image, or all, and prints tag and archive of each. */
import { parseArgs } from 'node:util';
import { consoleProgress } from '@slurm-operator/sandbox';
import { buildImage } from './build-image.ts';
import { type ImageName, recipes } from './recipes.ts';

const [name, version] = parseArgs({ allowPositionals: true }).positionals;
if (name !== undefined && !(name in recipes)) {
  console.error(`There is no image "${name}"; choose one of ${Object.keys(recipes).join(', ')}.`);
  process.exit(2);
}
const progress = consoleProgress();
const chosen = name === undefined ? (Object.keys(recipes) as ImageName[]) : [name as ImageName];
for (const image of chosen)
  for (const wanted of version === undefined ? recipes[image].versions : [version]) {
    const { tag, path } = await buildImage(image, wanted, { progress });
    console.log(`${tag}\t${path}`);
  }
