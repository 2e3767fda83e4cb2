/** `node images/src/main.ts [name [version]]`: builds one image, or all, and prints tag and archive of each. */
import { parseArgs } from 'node:util';
import { consoleProgress } from '@slurm-operator/sandbox';
import { buildImage } from './build-image.ts';
import { buildOperatorImage } from './operator/build-operator-image.ts';
import { type ImageName, recipes } from './recipes.ts';

const [name, version] = parseArgs({ allowPositionals: true }).positionals;
if (name !== undefined && name !== 'operator' && !(name in recipes)) {
  console.error(`There is no image "${name}"; choose one of operator, ${Object.keys(recipes).join(', ')}.`);
  process.exit(2);
}
const progress = consoleProgress();
const all = Object.keys(recipes) as ImageName[];
const chosen = name === undefined ? all : all.filter((image) => image === name);
for (const image of chosen)
  for (const wanted of version === undefined ? recipes[image].versions : [version]) {
    const { tag, path } = await buildImage(image, wanted, { progress });
    console.log(`${tag}\t${path}`);
  }
if (name === undefined || name === 'operator') {
  const { tag, path } = await buildOperatorImage({ progress });
  console.log(`${tag}\t${path}`);
}
