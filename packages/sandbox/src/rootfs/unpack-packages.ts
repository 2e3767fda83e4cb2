import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DebPackage } from '../apt/print-uris.ts';
import { type Architecture, PrivateApt, type Suite } from '../apt/private-apt.ts';
import { cacheDirectory } from '../directories.ts';
import { InvalidRequestError } from '../errors.ts';
import { runCommand } from '../process/run-command.ts';
import { contentKey, publishDirectory } from '../publish-directory.ts';
import type { BuildOptions } from './build-rootfs.ts';

export interface UnpackedPackages {
  /** Where their files are. Shared; never write into it. */
  readonly root: string;
  readonly packages: readonly Pick<DebPackage, 'name' | 'version' | 'architecture'>[];
}

/**
 * Just the files of the named packages, without their dependencies and without running anything of theirs: for callers that
 * use single libraries of them.
 */
export async function unpackPackages(
  request: {
    readonly suite: Suite;
    readonly packages: readonly string[];
    /** @default this machine's */
    readonly architecture?: Architecture | undefined;
  },
  options: BuildOptions = {},
): Promise<UnpackedPackages> {
  const { suite, architecture } = request;
  const apt = await PrivateApt.open({
    suite,
    ...(architecture === undefined ? {} : { architecture }),
    ...options,
  });
  const packages = (await apt.resolve(request.packages)).filter(({ name }) =>
    request.packages.includes(name),
  );
  const missing = request.packages.filter((wanted) => !packages.some(({ name }) => name === wanted));
  if (missing.length > 0)
    throw new InvalidRequestError(`Debian ${request.suite} has no package ${missing.join(', ')}.`);
  const directory = join(cacheDirectory(), 'packages', `${request.suite}-${contentKey(packages)}`);
  await publishDirectory(
    directory,
    async (scratch) => {
      const root = join(scratch, 'root');
      await mkdir(root);
      for (const deb of await apt.download(packages))
        await runCommand(['dpkg-deb', '-x', deb, root], { signal: options.signal });
    },
    options,
  );
  return { root: join(directory, 'root'), packages };
}
