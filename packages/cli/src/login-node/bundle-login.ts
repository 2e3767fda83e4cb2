/** `slurm-doctor` as one file for QuickJS. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));

export async function bundleSlurmDoctor(): Promise<string> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: repository,
    entryPoints: ['packages/cli/src/login-node/quickjs-main.ts'],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'neutral',
    // Imported only by what is left out.
    external: ['node:*'],
    format: 'iife',
    target: 'es2022',
    minifySyntax: true,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error('esbuild made nothing of slurm-doctor');
  if (output.text.includes('"node:')) throw new Error('slurm-doctor needs a module of Node');
  const inputs = Object.values(metafile.outputs).flatMap((each) => Object.entries(each.inputs));
  const foreign = inputs.find(
    ([file, { bytesInOutput }]) => bytesInOutput > 0 && file.includes('node_modules/'),
  );
  if (foreign !== undefined) throw new Error(`slurm-doctor has a part of another project: ${foreign[0]}`);
  return `#!/usr/bin/qjs --std
// slurm-doctor: why a job waits. Generated from packages/cli/src/login-node by \`make generate\`; do not edit.
${output.text}`;
}
