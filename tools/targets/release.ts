/**
 * `make release VERSION=1.2.3 REGISTRY=registry.example.com/hpc`: images, charts, lists of contents, checksums and notes below
 * `dist/release/1.2.3`. PUSH=yes publishes them; ARCH=amd64 leaves an architecture out; OUTPUT= names another directory.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explain } from '@slurm-operator/localcluster';
import { consoleProgress, requireRoot } from '@slurm-operator/sandbox';
import { releaseImages } from '../release/build-images.ts';
import { makeRelease } from '../release/make-release.ts';
import { credentialsFile } from '../release/push.ts';
import { chartRepository } from '../release/release-notes.ts';
import { ReleaseError, readRequest } from '../release/request.ts';
import { green, red } from './terminal.ts';

try {
  const request = readRequest(process.env);
  requireRoot('Building images');
  const progress = consoleProgress();
  const released = await makeRelease(request, {
    repository: fileURLToPath(new URL('../../', import.meta.url)),
    output: resolve(process.env['OUTPUT'] ?? 'dist/release'),
    credentials: await credentialsFile(process.env),
    images: releaseImages(request.version, { progress }),
    progress,
  });
  for (const { repository, tag, digest } of released.images)
    console.log(`${request.registry}/${repository}:${tag}\t${digest}`);
  console.log(green(`✔ ${request.version} is in ${released.directory}`));
  console.log(
    request.push
      ? `  published: helm show chart ${chartRepository(request.registry)}/slurm --version ${request.version}`
      : '  not published: run it again with PUSH=yes, after docker login, podman login or skopeo login',
  );
} catch (error) {
  console.error(red(`✘ ${error instanceof ReleaseError ? error.message : explain(error)}`));
  process.exitCode = 1;
}
