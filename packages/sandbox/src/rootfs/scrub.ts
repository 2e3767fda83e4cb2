import { glob, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a build leaves behind that says when and where it ran, or that must be each machine's own. */
const traces = [
  'etc/.pwd.lock',
  'etc/*-',
  'etc/hostname',
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
