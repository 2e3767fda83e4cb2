/** A browser without a window, of Debian's packages, which are downloaded into the cache and not installed. Needs root. */
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackTools } from '@slurm-operator/sandbox';
import { type Browser, chromium } from 'playwright-core';

export interface OpenBrowser extends AsyncDisposable {
  readonly browser: Browser;
}

/** Text is measured with this font, so that pages look alike on every machine. */
const packages = ['chromium-headless-shell', 'fonts-dejavu-core'];
const program = '/usr/lib/chromium/chromium-headless-shell';
const startMs = 180_000;

export async function openBrowser(): Promise<OpenBrowser> {
  const { root } = await unpackTools({ suite: 'trixie', packages });
  for (const name of ['proc', 'dev', 'tmp']) await mkdir(join(root, name), { recursive: true });
  for (const name of ['lib', 'lib64'])
    await symlink(`usr/${name}`, join(root, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  const directory = await mkdtemp(join(tmpdir(), `browser-${process.pid}-`));
  const launcher = join(directory, 'browser');
  await writeFile(launcher, launch(root));
  await chmod(launcher, 0o755);
  const browser = await chromium.launch({
    executablePath: launcher,
    // It runs as root, where Chromium's own sandbox does not start; the only pages are those of this repository.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    timeout: startMs,
  });
  return {
    browser,
    async [Symbol.asyncDispose]() {
      await browser.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** In the folder of its packages, with their libraries, and mounts that end with it. */
const launch = (root: string) => `#!/bin/sh
exec unshare --mount --propagation private sh -c '
root=$1; shift
for each in proc dev tmp; do mount --rbind /$each "$root/$each" || exit 1; done
exec env -i HOME=/tmp PATH=/usr/sbin:/usr/bin chroot "$root" ${program} "$@"
' sh '${root}' "$@"
`;
