/** A release as a directory: images, lists of their contents, charts, checksums and notes; published where that is asked for. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Helm } from '@slurm-operator/charts';
import { type BuildOptions, runCommand } from '@slurm-operator/sandbox';
import { buildReleaseImages, type ImageBuild } from './build-images.ts';
import { checksums } from './checksums.ts';
import { packageCharts } from './package-charts.ts';
import { packagePlugin } from './package-plugin.ts';
import { Publisher } from './push.ts';
import { changelogSection, type Release, releaseNotes } from './release-notes.ts';
import { ReleaseError, type ReleaseRequest } from './request.ts';

export interface ReleaseOptions extends BuildOptions {
  /** The root of the repository. */
  readonly repository: string;
  /** Where `<version>/` is written. */
  readonly output: string;
  /** For the registry; undefined: none. */
  readonly credentials: string | undefined;
  readonly images: readonly ImageBuild[];
}

export interface Released extends Release {
  readonly directory: string;
}

/** The commit that is released. A tree with changes is none. */
export async function releasedCommit(repository: string): Promise<string> {
  const git = async (...args: string[]) =>
    (await runCommand(['git', '-C', repository, ...args])).stdout.trim();
  const changed = (await git('status', '--porcelain')).split('\n').filter((line) => line !== '');
  if (changed.length > 0)
    throw new ReleaseError(
      `The tree has ${changed.length} uncommitted ${changed.length === 1 ? 'change' : 'changes'} (${changed[0]?.slice(2).trim()}): commit or stash first, so that the release can be built again.`,
    );
  return git('rev-parse', 'HEAD');
}

export async function makeRelease(request: ReleaseRequest, options: ReleaseOptions): Promise<Released> {
  const { version, registry, architectures } = request;
  // All that can be refused is refused before the first image is built.
  const changelog = await readFile(join(options.repository, 'CHANGELOG.md'), 'utf8');
  const changes = changelogSection(changelog, version);
  const commit = await releasedCommit(options.repository);
  await using helm = await Helm.open(options);

  const directory = join(options.output, version);
  const scratch = `${directory}.partial`;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true });
  const images = await buildReleaseImages(options.images, architectures, scratch, options);
  options.progress?.('packaging charts');
  const charts = await packageCharts(helm, { version, registry, images }, join(scratch, 'charts'));
  options.progress?.('packaging kubectl-slurm');
  const plugin = await packagePlugin(join(scratch, 'kubectl-slurm'), {
    version,
    downloads: request.downloads,
  });
  const release: Release = { version, commit, registry, images, charts, plugin };
  await writeFile(join(scratch, 'release.json'), `${JSON.stringify(release, undefined, 2)}\n`);
  await writeFile(join(scratch, 'release-notes.md'), releaseNotes(release, changes, request));
  await writeFile(join(scratch, 'checksums.txt'), await checksums(scratch));
  await rm(directory, { recursive: true, force: true });
  await rename(scratch, directory);

  if (request.push) {
    const publisher = await Publisher.open(helm, request, options.credentials, options);
    await publisher.publish(release, directory);
  }
  return { ...release, directory };
}
