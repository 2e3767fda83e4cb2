/** Bundles each program of the operator into one file, and tells what went into it. */
import { fileURLToPath } from 'node:url';
import { bundleCli } from '@slurm-operator/cli/bundle';
import { bundlePage } from '@slurm-operator/dashboard/build-page';
import type { RootFile, UnpackedPackages } from '@slurm-operator/sandbox';
import { build, type Plugin } from 'esbuild';
import {
  librarySuite,
  nodePath,
  nodeVersion,
  pageDirectory,
  plainFiles,
  pluginPath,
  programDirectory,
  programs,
  sbomPath,
} from './operator-files.ts';
import { softwareBill } from './sbom.ts';

export interface BundledProgram {
  readonly name: string;
  /** Where it is in the image. */
  readonly path: string;
  readonly content: string;
  /** The sources that are in it, from the root of the repository. */
  readonly inputs: readonly string[];
}

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** The young generation is kept small: it is what a program that mostly waits would otherwise hold for nothing. */
export const runtimeFlag = '--max-semi-space-size=4';

/** Some of what is bundled is CommonJS and asks for Node's own modules with `require`. */
const banner = `#!${nodePath} ${runtimeFlag}
import { createRequire as requireFor } from 'node:module';
const require = requireFor(import.meta.url);`;

/**
 * An ES module that imports `node:http` makes Node load its own fetch and WebSocket, which the operator does not use: 3 MB. The same module
 * without its ES facade loads neither.
 */
const withoutFetch: Plugin = {
  name: 'node:http without fetch',
  setup(bundle) {
    bundle.onResolve({ filter: /^(?:node:)?http$/ }, () => ({
      path: 'node:http',
      namespace: 'without-facade',
    }));
    bundle.onLoad({ filter: /^/, namespace: 'without-facade' }, () => ({
      contents: "module.exports = process.getBuiltinModule('node:http');",
    }));
  },
};

export async function bundlePrograms(): Promise<BundledProgram[]> {
  return Promise.all(programs.map(bundleProgram));
}

/** `source`: from the root of the repository. */
export async function bundleProgram({
  name,
  source,
}: Readonly<Record<'name' | 'source', string>>): Promise<BundledProgram> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: repository,
    entryPoints: [source],
    bundle: true,
    write: false,
    metafile: true,
    plugins: [withoutFetch],
    platform: 'node',
    format: 'esm',
    target: `node${nodeVersion.split('.')[0]}`,
    banner: { js: banner },
    // Names in stack traces are worth more than a few kilobytes; licences of what is bundled stay with it.
    minify: false,
    legalComments: 'eof',
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild made nothing of ${source}`);
  return {
    name,
    path: `${programDirectory}/${name}.js`,
    content: output.text,
    inputs: Object.keys(metafile.inputs)
      .filter((input) => !input.startsWith('without-facade:'))
      .toSorted(),
  };
}

/** What of the image is ours: bundles, the small files around them, and the list of all that is in it. */
export async function operatorFiles(
  debian: UnpackedPackages['packages'],
  version: string,
): Promise<readonly RootFile[]> {
  const bundles = await bundlePrograms();
  const plugin = await bundleCli(version);
  const page = await bundlePage();
  const inputs = [
    ...new Set([...bundles.flatMap((bundle) => bundle.inputs), ...plugin.inputs, ...page.inputs]),
  ].toSorted();
  return [
    ...plainFiles,
    ...bundles.map(({ path, content }) => ({ path, content, mode: 0o755 })),
    ...[...page.files].map(([name, content]) => ({
      path: `${pageDirectory}/${name}`,
      content: content.toString('utf8'),
    })),
    // For people to copy: the plugin of kubectl that belongs to this operator.
    { path: pluginPath, content: plugin.content },
    { path: sbomPath, content: softwareBill(inputs, debian, librarySuite, version) },
  ];
}
