/** A small image for tests: Debian's static busybox with its links, as `localhost/busybox:1`. */
import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackTools, writeImageTar } from '@slurm-operator/sandbox';

export const busyboxImage = 'localhost/busybox:1';

/** Answers the path of the tar. */
export async function buildBusyboxImage(directory: string): Promise<string> {
  const tools = await unpackTools({ packages: ['busybox-static'] });
  const program = join(tools.root, 'bin', 'busybox');
  const root = await mkdtemp(join(tmpdir(), 'busybox-root-'));
  try {
    for (const part of ['bin', 'etc', 'tmp', 'proc', 'sys', 'dev', 'root', 'www'])
      await mkdir(join(root, part), { recursive: true });
    await chmod(join(root, 'tmp'), 0o1777);
    await copyFile(program, join(root, 'bin', 'busybox'));
    await chmod(join(root, 'bin', 'busybox'), 0o755);
    for (const applet of execFileSync(program, ['--list'], { encoding: 'utf8' }).trim().split('\n'))
      if (applet !== 'busybox') await symlink('busybox', join(root, 'bin', applet));
    await writeFile(
      join(root, 'etc', 'passwd'),
      'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n',
    );
    await writeFile(join(root, 'etc', 'group'), 'root:x:0:\nnogroup:x:65534:\n');
    const output = join(directory, 'busybox.tar');
    await writeImageTar({
      rootfs: root,
      tag: busyboxImage,
      config: { entrypoint: ['sh'], env: { PATH: '/bin' } },
      output,
    });
    return output;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
