import { chmod, copyFile, mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type BuildOptions,
  cacheDirectory,
  contentKey,
  publishDirectory,
  unpackPackages,
  writeRootFiles,
} from '@slurm-operator/sandbox';
import { type BuiltImage, packImage } from '../build-image.ts';
import { operatorFiles } from './bundle-programs.ts';
import { nodeBinary } from './node-binary.ts';
import {
  type Architecture,
  hereArchitecture,
  libraryPackages,
  librarySuite,
  machines,
  nodePath,
  operatorConfig,
  operatorVersion,
} from './operator-files.ts';

export const operatorImage = `slurm-operator/operator:${operatorVersion}`;

export interface OperatorImageOptions extends BuildOptions {
  /** @default this machine's */
  readonly architecture?: Architecture;
  /** The version of a release; by default that of the sources. */
  readonly version?: string;
}

/**
 * Builds the operator's image without Docker, or finds it in the cache. Nothing of it runs in its build, so it can be built for
 * another machine than this one. Needs root.
 */
export async function buildOperatorImage({
  architecture = hereArchitecture(),
  version = operatorVersion,
  ...options
}: OperatorImageOptions = {}): Promise<BuiltImage> {
  const tag = `slurm-operator/operator:${version}`;
  const config = operatorConfig(version);
  const { triplet, loader, runtime } = machines[architecture];
  const libraries = await unpackPackages(
    {
      suite: librarySuite,
      packages: Object.keys(libraryPackages),
      ...(architecture === hereArchitecture() ? {} : { architecture }),
    },
    options,
  );
  const node = await nodeBinary(architecture, options);
  const files = await operatorFiles(libraries.packages, version);
  const key = contentKey({
    recipe: 1,
    files,
    operatorConfig: config,
    libraries: libraries.packages,
    runtime,
  });
  const directory = join(cacheDirectory(), 'rootfs', `operator-${key}`);
  const root = join(directory, 'root');
  await publishDirectory(
    directory,
    async (scratch) => {
      options.progress?.(`packing ${tag}`);
      const to = async (path: string, source: string, mode: number) => {
        const target = join(scratch, 'root', path);
        await mkdir(dirname(target), { recursive: true });
        await copyFile(await realpath(source), target);
        await chmod(target, mode);
      };
      await to(nodePath, node, 0o755);
      await to('/usr/share/doc/node/LICENSE', join(dirname(node), '../LICENSE'), 0o644);
      const library = join(libraries.root, 'usr/lib', triplet);
      await to(loader, join(library, loader.slice(loader.lastIndexOf('/'))), 0o755);
      for (const [name, wanted] of Object.entries(libraryPackages)) {
        for (const file of wanted) await to(`/lib/${triplet}/${file}`, join(library, file), 0o755);
        const copyright = `/usr/share/doc/${name}/copyright`;
        const found = await realpath(join(libraries.root, copyright)).catch(() => undefined);
        if (found !== undefined) await to(copyright, found, 0o644);
      }
      await writeRootFiles(join(scratch, 'root'), files);
    },
    options,
  );
  return packImage({
    file: `operator-${version}-${key}.tar`,
    rootfs: root,
    tag,
    config,
    architecture,
    options,
  });
}
