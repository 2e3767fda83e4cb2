/** kubectl-slurm as one file for Node 22 or later. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

const banner = `#!/usr/bin/env node
import { createRequire as requireFor } from 'node:module';
if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error('kubectl slurm needs Node 22 or later; this is Node ' + process.versions.node + '.');
  process.exit(2);
}
const require = requireFor(import.meta.url);`;

export async function bundleCli(): Promise<{ readonly content: string; readonly inputs: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: repository,
    entryPoints: ['packages/cli/src/main.ts'],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    banner: { js: banner },
    minify: true,
    // Names of classes are part of messages.
    keepNames: false,
    legalComments: 'eof',
    // Optional accelerators of ws, which are not installed.
    external: ['bufferutil', 'utf-8-validate'],
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error('esbuild made nothing of packages/cli');
  return { content: output.text, inputs: Object.keys(metafile.inputs).toSorted() };
}
