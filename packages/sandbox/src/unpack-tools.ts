import { chmod, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostArchive } from './apt/host-archive.ts';
import type { DebPackage } from './apt/print-uris.ts';
import { PrivateApt, type Suite } from './apt/private-apt.ts';
import { cacheDirectory } from './directories.ts';
import { InvalidRequestError } from './errors.ts';
import { runCommand } from './process/run-command.ts';
import type { Progress } from './progress.ts';
import { contentKey, publishDirectory } from './publish-directory.ts';

export interface UnpackToolsOptions {
  /** Which release the packages come from. Default: the machine's own. */
  readonly suite?: Suite;
  readonly packages: readonly string[];
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

export interface Tools {
  /** Where the packages were unpacked (their `/usr` is `root/usr`). */
  readonly root: string;
  /** One directory with a working command per program; put it first in PATH. */
  readonly bin: string;
  /** The full path of a program; says which programs there are when `name` is none of them. */
  path(name: string): string;
}

const programDirectories = ['usr/sbin', 'usr/bin', 'sbin', 'bin'];

/**
 * Programs of Debian packages, usable on this machine without installing anything: unpacked under the cache
 * directory, keyed by exact versions, each behind a small command that knows where its libraries are.
 *
 * What every Debian machine has (essential packages and apt) is taken from the machine when the suite is its own.
 * A foreign suite brings its own C library and loader, because a newer program may ask for a newer one.
 */
export async function unpackTools(options: UnpackToolsOptions): Promise<Tools> {
  if (options.packages.length === 0)
    throw new InvalidRequestError('packages is empty: name at least one Debian package.');
  const { codename } = await hostArchive();
  const suite = options.suite ?? (codename as Suite);
  const foreign = suite !== codename;
  const request = contentKey({ recipe, suite, foreign, packages: [...options.packages].toSorted() });
  const pointer = join(cacheDirectory(), 'tools', `request-${request}.json`);
  const known = await readPointer(pointer);
  if (known !== undefined) return toolsAt(known);

  const apt = await PrivateApt.open({ ...options, suite });
  const present = foreign
    ? new Set<string>()
    : new Set((await apt.resolve(['?essential', 'apt'])).map((deb) => deb.name));
  const packages = (await apt.resolve(options.packages)).filter(
    (deb) => !present.has(deb.name) || options.packages.includes(deb.name),
  );
  const directory = join(cacheDirectory(), 'tools', `${suite}-${contentKey({ recipe, packages })}`);
  await publishDirectory(directory, (scratch) => unpack(apt, packages, scratch, directory, foreign), options);
  await writeFile(pointer, JSON.stringify({ directory }));
  return toolsAt(directory);
}

/** Part of every key: change it when what is made from the same packages changes. */
const recipe = 1;

async function unpack(
  apt: PrivateApt,
  packages: readonly DebPackage[],
  scratch: string,
  final: string,
  foreign: boolean,
): Promise<void> {
  const root = join(scratch, 'root');
  await mkdir(join(scratch, 'bin'), { recursive: true });
  await mkdir(root);
  for (const deb of await apt.download(packages)) await runCommand(['dpkg-deb', '-x', deb, root]);
  const libraries = await libraryDirectories(root);
  const loader = foreign ? await findLoader(root, libraries) : undefined;
  for (const directory of programDirectories) {
    for (const name of await readdir(join(root, directory)).catch(() => [])) {
      const target = await realpath(join(root, directory, name)).catch(() => undefined);
      if (target === undefined || !target.startsWith(root) || !(await stat(target)).isFile()) continue;
      const script = launcher(
        target.replace(scratch, final),
        libraries.map((library) => join(final, 'root', library)),
        loader === undefined || !(await isDynamic(target)) ? undefined : join(final, 'root', loader),
      );
      await writeFile(join(scratch, 'bin', name), script);
      await chmod(join(scratch, 'bin', name), 0o755);
    }
  }
}

function launcher(program: string, libraries: readonly string[], loader: string | undefined): string {
  const path = libraries.join(':');
  if (loader !== undefined)
    return `#!/bin/sh\nexec '${loader}' --library-path '${path}' --argv0 "$0" '${program}' "$@"\n`;
  if (path === '') return `#!/bin/sh\nexec '${program}' "$@"\n`;
  return `#!/bin/sh\nLD_LIBRARY_PATH='${path}' exec '${program}' "$@"\n`;
}

async function libraryDirectories(root: string): Promise<string[]> {
  const found: string[] = [];
  for (const base of ['usr/lib', 'lib']) {
    for (const entry of await readdir(join(root, base), { withFileTypes: true }).catch(() => []))
      if (entry.isDirectory() && entry.name.endsWith('-linux-gnu')) found.push(`${base}/${entry.name}`);
  }
  return found;
}

async function findLoader(root: string, libraries: readonly string[]): Promise<string | undefined> {
  for (const library of libraries)
    for (const name of await readdir(join(root, library)))
      if (/^ld-linux-.*\.so\.\d+$/.test(name)) return `${library}/${name}`;
  return undefined;
}

/** A dynamic ELF program names its loader; a script or a static program does not. */
async function isDynamic(file: string): Promise<boolean> {
  const head = (await readFile(file)).subarray(0, 4096).toString('latin1');
  return head.startsWith('\u007fELF') && /\/ld-linux-[^\0]*\.so/.test(head);
}

async function readPointer(pointer: string): Promise<string | undefined> {
  try {
    const { directory } = JSON.parse(await readFile(pointer, 'utf8')) as { directory: string };
    await stat(join(directory, '.complete'));
    return directory;
  } catch {
    return undefined;
  }
}

async function toolsAt(directory: string): Promise<Tools> {
  const bin = join(directory, 'bin');
  const programs = new Set(await readdir(bin));
  return {
    root: join(directory, 'root'),
    bin,
    path(name) {
      if (programs.has(name)) return join(bin, name);
      throw new InvalidRequestError(
        `No program "${name}" among the unpacked tools; there is: ${[...programs].toSorted().join(', ')}.`,
      );
    },
  };
}
