import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Architecture, PrivateApt, type Suite } from '../apt/private-apt.ts';
import { cacheDirectory } from '../directories.ts';
import { InvalidRequestError, requireRoot, SandboxError } from '../errors.ts';
import { runCommand } from '../process/run-command.ts';
import { consoleProgress, type Progress } from '../progress.ts';
import { contentKey, publishDirectory } from '../publish-directory.ts';
import { type AccountRequest, addAccounts } from './accounts.ts';
import { answerQuestions, type BuildRoot, configureBase, installPackages, runInRoot } from './chroot.ts';
import { type Emulator, emulatorFor } from './emulation.ts';
import { type RootFile, writeRootFiles } from './root-files.ts';

export interface RootfsRequest {
  /** What it is called in the cache and in progress lines, for example `slurm-26.05`. */
  readonly name: string;
  readonly suite: Suite;
  /** The architecture of its packages, where it is not this machine's: their scripts run emulated, ten times slower. */
  readonly architecture?: Architecture;
  /** Other releases, for packages that `suite` does not have. */
  readonly alsoFrom?: readonly Suite[];
  /** Installed without recommended packages, on top of Debian's essential ones. */
  readonly packages: readonly string[];
  /** System accounts that exist before any package is installed, so that packages use them. */
  readonly accounts?: readonly AccountRequest[];
  /** Answers to questions that packages ask when they are installed, as `debconf-set-selections` reads them. */
  readonly answers?: readonly string[];
  /** Files written after the packages are installed. */
  readonly files?: readonly RootFile[];
  /** Commands run inside at the end, as root; no shell unless the command is one. */
  readonly commands?: readonly (readonly string[])[];
  /** Paths removed at the end, relative to the root; `*` matches within one name. */
  readonly remove?: readonly string[];
}

export interface BuildOptions {
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

export interface Rootfs {
  readonly name: string;
  readonly suite: Suite;
  /** The root directory. Shared by all users of the cache: never write into it, put an overlay on top. */
  readonly path: string;
  /** Names the content: suite, exact package versions and recipe. */
  readonly key: string;
  /** Exact version of every package inside. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Part of the keys of bases, which everything is built on: change it when the same request leads to another tree. */
const baseRecipe = 1;

/** The same for what is built on a base. */
const recipe = 2;

/**
 * A Debian root file system with the given packages, built once and kept in the cache directory.
 *
 * The same request gives the same directory until the cache is removed; the packages' exact versions are part of
 * its key. An interrupted build starts again with the packages already downloaded. Needs root.
 */
export async function buildRootfs(request: RootfsRequest, options: BuildOptions = {}): Promise<Rootfs> {
  requireRoot(`Building the root file system ${request.name}`);
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(request.name))
    throw new InvalidRequestError(
      `name "${request.name}" of a root file system may hold a-z, 0-9, "." and "-" only.`,
    );
  const progress = options.progress ?? consoleProgress();
  const directory = join(cacheDirectory(), 'rootfs');
  const pointer = join(directory, `request-${contentKey({ recipe, request })}.json`);
  const known = await readKnown(pointer);
  if (known !== undefined) return known;

  const apt = await PrivateApt.open({
    suite: request.suite,
    alsoFrom: request.alsoFrom,
    ...(request.architecture === undefined ? {} : { architecture: request.architecture }),
    progress,
    signal: options.signal,
  });
  const emulator = await emulatorFor(request.architecture, options);
  const built = await withFreshLists(apt, progress, async () => {
    const base = await buildBase(apt, request.architecture, emulator, options, progress);
    const packages = await apt.resolve(['?essential', ...request.packages]);
    const key = contentKey({ recipe, request, packages });
    const path = join(directory, `${request.name}-${key}`);
    await publishDirectory(
      path,
      async (scratch) => {
        progress(`${request.name}: installing ${packages.length} packages of Debian ${request.suite}`);
        const root = join(scratch, 'root');
        const build: BuildRoot = { path: root, emulator, signal: options.signal };
        await runCommand(['cp', '--archive', '--reflink=auto', join(base, 'root'), root], options);
        await addAccounts(root, request.accounts ?? []);
        if (request.answers !== undefined) await answerQuestions(build, request.answers);
        await apt.download(packages);
        await installPackages(apt, build, packages);
        await writeRootFiles(root, request.files ?? []);
        for (const command of request.commands ?? []) await runInRoot(build, command);
        await scrub(root, request.remove ?? []);
        progress(`${request.name}: ready`);
      },
      { ...options, onWait: () => progress(`${request.name}: another process is building it; waiting`) },
    );
    const versions = Object.fromEntries(packages.map((deb) => [deb.name, deb.version]));
    return { name: request.name, suite: request.suite, path: join(path, 'root'), key, versions };
  });
  await writeFile(pointer, JSON.stringify(built));
  return built;
}

/** Debian's essential packages, configured: the common beginning of every root file system of a suite. */
async function buildBase(
  apt: PrivateApt,
  architecture: Architecture | undefined,
  emulator: Emulator | undefined,
  options: BuildOptions,
  progress: Progress,
): Promise<string> {
  const packages = await apt.resolve(['?essential']);
  const key = contentKey({
    recipe: baseRecipe,
    packages,
    ...(architecture === undefined ? {} : { architecture }),
  });
  const path = join(cacheDirectory(), 'rootfs', `base-${apt.suite}-${key}`);
  return publishDirectory(
    path,
    async (scratch) => {
      progress(`${apt.suite}: unpacking ${packages.length} essential packages`);
      const root = join(scratch, 'root');
      await mkdir(root);
      const files = await apt.download(packages);
      await configureBase(apt, { path: root, emulator, signal: options.signal }, files);
    },
    { ...options, onWait: () => progress(`${apt.suite}: another process is building the base; waiting`) },
  );
}

/** A mirror moves on: lists that name a package it no longer has are fetched again, once. */
async function withFreshLists<T>(apt: PrivateApt, progress: Progress, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== 'APT_FAILED') throw error;
    progress(`${apt.suite}: a download failed; reading the package lists again`);
    await apt.refresh();
    return await work();
  }
}

async function readKnown(pointer: string): Promise<Rootfs | undefined> {
  try {
    const known = JSON.parse(await readFile(pointer, 'utf8')) as Rootfs;
    await readFile(join(known.path, '..', '.complete'));
    return known;
  } catch {
    return undefined;
  }
}

/** What a build leaves behind that says when and where it ran, or that must be each machine's own. */
const traces = [
  'etc/.pwd.lock',
  'etc/*-',
  'etc/hostname',
  'etc/munge/munge.key',
  'etc/resolv.conf',
  'etc/ssh/ssh_host_*',
  'tmp/*',
  'usr/sbin/policy-rc.d',
  'var/cache/apt/*',
  'var/cache/debconf/*-old',
  'var/cache/ldconfig/*',
  'var/lib/dpkg/*-old',
  'var/lib/systemd/random-seed',
  'var/log/*.log',
  'var/log/apt',
  'var/log/{btmp,wtmp,lastlog,faillog}',
];

/** Removes the traces of the build and the given paths, so that two builds of the same packages are the same. */
export async function scrub(root: string, remove: readonly string[]): Promise<void> {
  for (const pattern of [...traces, ...remove.map((path) => path.replace(/^\/+/, ''))])
    for await (const found of glob(pattern, { cwd: root }))
      await rm(join(root, found), { recursive: true, force: true });
  await writeFile(join(root, 'etc/machine-id'), '');
}
