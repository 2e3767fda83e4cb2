/** The smallest root that can run something: a static busybox and its links. */
import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../src/process/run-command.ts';
import { unpackTools } from '../src/unpack-tools.ts';

/** Makes it in a fresh temporary directory, which the caller removes. */
export async function busyboxRoot(): Promise<string> {
  const { root: tools } = await unpackTools({ packages: ['busybox-static'] });
  const root = await mkdtemp(join(tmpdir(), 'busybox-root-'));
  for (const directory of ['bin', 'etc', 'tmp', 'var/www'])
    await mkdir(join(root, directory), { recursive: true });
  await cp(join(tools, 'bin/busybox'), join(root, 'bin/busybox'));
  const { stdout } = await runCommand([join(root, 'bin/busybox'), '--list']);
  for (const applet of stdout.trim().split('\n'))
    if (applet !== 'busybox') await symlink('busybox', join(root, 'bin', applet));
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\nplain:x:1000:1000::/:/bin/sh\n');
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nplain:x:1000:\nextra:x:1001:plain\n');
  return root;
}
