/**
 * `node images/src/main.ts [name [version]]`: builds one image, or all, and prints tag and archive of each. The operator's version is
 * that of the sources; there the second word is the machine it is for, amd64 or arm64.
 */
import { parseArgs } from 'node:util';
import { consoleProgress } from '@slurm-operator/sandbox';
import { buildAllImages } from './build-all-images.ts';
import { buildImage } from './build-image.ts';
import { buildOperatorImage } from './operator/build-operator-image.ts';
import { type ImageName, recipes } from './recipes.ts';

const [name, version] = parseArgs({ allowPositionals: true }).positionals;
if (name !== undefined && name !== 'operator' && !(name in recipes)) {
  console.error(`There is no image "${name}"; choose one of operator, ${Object.keys(recipes).join(', ')}.`);
  process.exit(2);
}
if (name === 'operator' && version !== undefined && version !== 'amd64' && version !== 'arm64') {
  console.error(`The operator's image is built for amd64 and arm64, not for "${version}".`);
  process.exit(2);
}
const options = { progress: consoleProgress() };

async function* chosen() {
  if (name === undefined) yield* buildAllImages(options);
  else if (name === 'operator')
    yield buildOperatorImage(
      version === 'amd64' || version === 'arm64' ? { ...options, architecture: version } : options,
    );
  else
    for (const wanted of version === undefined ? recipes[name as ImageName].versions : [version])
      yield buildImage(name as ImageName, wanted, options);
}

for await (const { tag, path } of chosen()) console.log(`${tag}\t${path}`);
