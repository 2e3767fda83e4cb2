/** kubectl-slurm in a release: an archive for every machine with Node, and the manifest with which krew installs it. */
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleCli, completionScript } from '@slurm-operator/cli/bundle';
import { runCommand, scratchDirectory } from '@slurm-operator/sandbox';
import { stringify } from 'yaml';

export interface PackagePluginOptions {
  readonly version: string;
  /** Where the archive will be offered, without a slash at the end. */
  readonly downloads: string;
}

export interface ReleasedPlugin {
  /** The file name of the archive. */
  readonly file: string;
  readonly sha256: string;
}

const licence = 'LICENSE';

/** Writes the archive and `slurm.yaml` into a directory. The same sources give the same bytes. */
export async function packagePlugin(
  directory: string,
  { version, downloads }: PackagePluginOptions,
): Promise<ReleasedPlugin> {
  await mkdir(directory, { recursive: true });
  const content = scratchDirectory('plugin');
  await mkdir(content, { recursive: true });
  const { content: program } = await bundleCli(version);
  const executables = {
    'kubectl-slurm': program,
    'kubectl_complete-slurm': completionScript('kubectl') ?? '',
  };
  for (const [name, text] of Object.entries(executables)) {
    await writeFile(join(content, name), text);
    await chmod(join(content, name), 0o755);
  }
  await copyFile(join(import.meta.dirname, '../..', licence), join(content, licence));
  await chmod(join(content, licence), 0o644);
  const file = `kubectl-slurm-${version}.tar.gz`;
  const plain = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=ustar'];
  const names = [...Object.keys(executables), licence].toSorted();
  await runCommand([
    'tar',
    ...plain,
    '--use-compress-program=gzip -n -9',
    '-cf',
    join(directory, file),
    '-C',
    content,
    ...names,
  ]);
  await rm(content, { recursive: true, force: true });
  const sha256 = createHash('sha256')
    .update(await readFile(join(directory, file)))
    .digest('hex');
  const manifest = krewManifest({ version, uri: `${downloads}/${file}`, sha256 });
  await writeFile(join(directory, 'slurm.yaml'), stringify(manifest, { version: '1.1', lineWidth: 0 }));
  return { file, sha256 };
}

/** https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/ */
export const krewManifest = ({
  version,
  uri,
  sha256,
}: Readonly<Record<'version' | 'uri' | 'sha256', string>>) => ({
  apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
  kind: 'Plugin',
  metadata: { name: 'slurm' },
  spec: {
    version: `v${version}`,
    homepage: 'https://slurm.schedmd.com/',
    shortDescription: 'Show, explain and operate Slurm clusters',
    description:
      'Status of Slurm clusters that slurm-operator runs, why a job or worker does not run and what to do, plans of changes, and everyday operations on jobs and nodes.\n',
    caveats: 'It needs Node 22 or later on the PATH.\nStart with: kubectl slurm status\n',
    platforms: [
      {
        selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
        uri,
        sha256,
        files: [
          { from: 'kubectl-slurm', to: '.' },
          { from: 'kubectl_complete-slurm', to: '.' },
          { from: licence, to: '.' },
        ],
        bin: 'kubectl-slurm',
      },
    ],
  },
});
