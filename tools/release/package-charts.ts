/** The three charts as archives that belong to one release: its version, its registry, and the digests of its images. */
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChartName, chart, type Helm } from '@slurm-operator/charts';
import { runCommand, scratchDirectory } from '@slurm-operator/sandbox';
import { parseDocument } from 'yaml';
import { digestsFile, type ReleasedChart, type ReleasedImage } from './release-notes.ts';
import { ReleaseError } from './request.ts';

const names: readonly ChartName[] = ['slurm-operator-crds', 'slurm-operator', 'slurm'];

/** 2026-01-01, as in the images: an archive does not depend on the day it was made. */
const date = '@1767225600';

export interface ChartRelease {
  readonly version: string;
  readonly registry: string;
  readonly images: readonly ReleasedImage[];
}

/** Writes `<name>-<version>.tgz` of each chart into `output`. The same release gives the same bytes. */
export async function packageCharts(
  helm: Helm,
  release: ChartRelease,
  output: string,
): Promise<ReleasedChart[]> {
  const scratch = scratchDirectory('charts');
  try {
    await mkdir(output, { recursive: true });
    const packaged: ReleasedChart[] = [];
    for (const name of names) {
      const directory = join(scratch, name);
      await cp(chart(name), directory, { recursive: true, dereference: true });
      for (const inside of [directory, ...(await subcharts(directory))])
        await setVersions(join(inside, 'Chart.yaml'), release.version);
      if (name !== 'slurm-operator-crds') {
        await setRegistry(join(directory, 'values.yaml'), release.registry);
        await writeFile(
          join(directory, 'release-digests.json'),
          digestsFile(release.registry, release.images),
        );
      }
      await helm.run(['lint', directory]);
      await helm.run(['package', directory, '--destination', scratch]);
      const file = `${name}-${release.version}.tgz`;
      const bytes = await repack(join(scratch, file), name);
      await writeFile(join(output, file), bytes);
      packaged.push({ name, file, sha256: createHash('sha256').update(bytes).digest('hex') });
    }
    return packaged;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function subcharts(directory: string): Promise<string[]> {
  const found = await readdir(join(directory, 'charts')).catch(() => []);
  return found.map((name) => join(directory, 'charts', name));
}

/** The chart slurm keeps its appVersion: that is the release of Slurm in its images. */
async function setVersions(file: string, version: string): Promise<void> {
  const document = parseDocument(await readFile(file, 'utf8'));
  const own = document.get('version');
  if (document.get('appVersion') === own) document.set('appVersion', version);
  document.set('version', version);
  const dependencies = (document.toJS() as { dependencies?: readonly { version: string }[] }).dependencies;
  for (const index of (dependencies ?? []).keys())
    document.setIn(['dependencies', index, 'version'], version);
  await writeFile(file, document.toString({ lineWidth: 0 }));
}

async function setRegistry(file: string, registry: string): Promise<void> {
  const values = await readFile(file, 'utf8');
  const changed = values.replace(/^registry: ""$/m, `registry: ${JSON.stringify(registry)}`);
  if (changed === values) throw new ReleaseError(`${file} has no line \`registry: ""\` to set.`);
  await writeFile(file, changed);
}

/** helm writes the time of day into its archive. The same files in the same order, with a fixed date, are the same bytes. */
async function repack(archive: string, name: string): Promise<Buffer> {
  const directory = `${archive}.files`;
  await mkdir(directory);
  await runCommand(['tar', '--extract', '--gzip', '--file', archive, '--directory', directory]);
  const plain = `${archive}.tar`;
  await runCommand([
    'tar',
    '--create',
    '--file',
    plain,
    '--directory',
    directory,
    '--format=gnu',
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    '--mtime',
    date,
    name,
  ]);
  await runCommand(['gzip', '--no-name', '--best', plain]);
  return readFile(`${plain}.gz`);
}
