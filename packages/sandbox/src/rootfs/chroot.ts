/** The parts of a build that run inside the new root, each in mount and pid namespaces of its own. */
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DebPackage } from '../apt/print-uris.ts';
import type { PrivateApt } from '../apt/private-apt.ts';
import { runCommand } from '../process/run-command.ts';
import { type Emulator, inUserNamespace, registerEmulator } from './emulation.ts';

/** Programs that write dates use this one (2026-01-01), so that two builds do not differ by their day. */
const sourceDate = '1767225600';

const insideEnv = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LC_ALL: 'C.UTF-8',
  TZ: 'UTC',
  DEBIAN_FRONTEND: 'noninteractive',
  DEBCONF_NONINTERACTIVE_SEEN: 'true',
  SOURCE_DATE_EPOCH: sourceDate,
};

/**
 * Mounts what maintainer scripts expect, then becomes the command. Mount and pid namespace are the script's own:
 * however the build ends, no mount and no process of it stays.
 * $1 = root, $2 = directory of packages ("" for none), $3 and $4 = what runs programs of another architecture ("" for none), the
 * rest = the command.
 */
const stage = `set -eu
root=$1 archives=$2 interpreter=$3 entry=$4; shift 4
${registerEmulator}
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755,size=1m dev "$root/dev"
for node in null zero full random urandom tty; do
  : > "$root/dev/$node"; mount --bind "/dev/$node" "$root/dev/$node"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/pts" "$root/dev/shm"
if [ -n "$archives" ]; then
  mkdir -p "$root/var/cache/apt/archives"
  mount --bind "$archives" "$root/var/cache/apt/archives"
fi
exec "$@"`;

/** A root that is being built. */
export interface BuildRoot {
  readonly path: string;
  /** What runs its programs where they are of another architecture. */
  readonly emulator?: Emulator | undefined;
  readonly signal?: AbortSignal | undefined;
}

async function staged(
  { path: root, emulator, signal }: BuildRoot,
  archives: string,
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  input?: string,
): Promise<void> {
  await runCommand(
    [
      'setpriv',
      '--pdeathsig',
      'KILL',
      ...(emulator === undefined ? [] : ['sh', '-c', inUserNamespace, 'emulated']),
      'unshare',
      '--mount',
      '--pid',
      '--ipc',
      '--uts',
      '--net',
      '--fork',
      '--kill-child',
      '--propagation',
      'private',
      'sh',
      '-c',
      stage,
      'stage',
      root,
      archives,
      emulator?.interpreter ?? '',
      emulator?.magic ?? '',
      ...command,
    ],
    // Emulated programs are about ten times slower.
    { env, signal, input, timeoutMs: emulator === undefined ? 900_000 : 3_600_000 },
  );
}

/** Unpacks the essential packages into an empty root and lets their own dpkg install them. */
export async function configureBase(
  apt: PrivateApt,
  build: BuildRoot,
  files: readonly string[],
): Promise<void> {
  const { path: root, signal } = build;
  // Merged /usr: older suites expect the bootstrapping program to create these links.
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    await mkdir(join(root, 'usr', name), { recursive: true });
    await symlink(`usr/${name}`, join(root, name));
  }
  for (const file of files) await runCommand(['dpkg-deb', '-x', file, root], { signal });
  for (const name of ['doc', 'info', 'man', 'locale', 'lintian'])
    await rm(join(root, 'usr/share', name), { recursive: true, force: true });
  for (const directory of [
    'proc',
    'sys',
    'dev',
    'run',
    'tmp',
    'etc/dpkg/dpkg.cfg.d',
    'var/lib/dpkg/info',
    'var/lib/dpkg/updates',
    'var/lib/dpkg/triggers',
  ])
    await mkdir(join(root, directory), { recursive: true });
  for (const name of ['status', 'available']) await writeFile(join(root, 'var/lib/dpkg', name), '');
  await writeFile(join(root, 'etc/dpkg/dpkg.cfg.d/slim'), slimDpkg);
  // No package may start a daemon on the machine that builds it.
  await writeFile(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n');
  await chmod(join(root, 'usr/sbin/policy-rc.d'), 0o755);
  await staged(
    build,
    apt.archives,
    [
      'chroot',
      root,
      'dpkg',
      '--install',
      '--force-depends',
      ...files.map((file) => `/var/cache/apt/archives/${basename(file)}`),
    ],
    insideEnv,
  );
}

const slimDpkg = `force-unsafe-io
path-exclude=/usr/share/doc/*
path-include=/usr/share/doc/*/copyright
path-exclude=/usr/share/info/*
path-exclude=/usr/share/lintian/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/share/man/*
`;

/** Installs exactly these packages: the machine's apt decides the order, the root's dpkg does the work. */
export async function installPackages(
  apt: PrivateApt,
  build: BuildRoot,
  packages: readonly DebPackage[],
): Promise<void> {
  const { path: root } = build;
  await staged(
    build,
    apt.archives,
    [
      'apt-get',
      'install',
      '--yes',
      '--no-download',
      '--no-install-recommends',
      '--allow-downgrades',
      '-o',
      `Dir::State::status=${root}/var/lib/dpkg/status`,
      '-o',
      `Dir::Cache::archives=${root}/var/cache/apt/archives`,
      '-o',
      `Dir::State::extended_states=${root}/var/lib/apt-extended-states`,
      '-o',
      `DPkg::Chroot-Directory=${root}`,
      // Its locks lie in the archives, which several builds share and none of them writes; the root is ours alone.
      '-o',
      'Debug::NoLocking=true',
      '-o',
      'DPkg::Use-Pty=false',
      '-o',
      'DPkg::Options::=--force-confold',
      ...packages.map((deb) => `${deb.name}:${deb.architecture}=${deb.version}`),
    ],
    { ...insideEnv, APT_CONFIG: apt.env['APT_CONFIG'] },
  );
  await rm(join(root, 'var/lib/apt-extended-states'), { force: true });
}

/** Runs one command inside the root, without a network. */
export async function runInRoot(build: BuildRoot, command: readonly string[]): Promise<void> {
  await staged(build, '', ['chroot', build.path, ...command], insideEnv);
}

/** Answers the questions of packages before they are installed. */
export async function answerQuestions(build: BuildRoot, answers: readonly string[]): Promise<void> {
  const input = answers.map((answer) => `${answer}\n`).join('');
  await staged(build, '', ['chroot', build.path, 'debconf-set-selections'], insideEnv, input);
}
