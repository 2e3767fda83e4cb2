import { globSync } from 'node:fs';
import { join } from 'node:path';
import { PrivateApt, type Suite } from '../apt/private-apt.ts';
import { InvalidRequestError, PrerequisiteError } from '../errors.ts';
import type { BuildOptions } from '../rootfs/build-rootfs.ts';
import { unpackPackages } from '../rootfs/unpack-packages.ts';

export interface Kernel {
  /** The bootable file. */
  readonly image: string;
  /** As `uname -r` prints it. */
  readonly release: string;
  /** The file of a module that is not built in. */
  module(name: string): string;
}

/** Debian's kernel for virtual machines: small, and with everything that a machine without a disk needs built in. */
export async function debianKernel(suite: Suite, options: BuildOptions = {}): Promise<Kernel> {
  const apt = await PrivateApt.open({ suite, ...options });
  const pattern = /^linux-image-(\d.*-cloud-amd64)(-unsigned)?$/;
  const name = (await apt.resolve(['linux-image-cloud-amd64']))
    .map((deb) => deb.name)
    .find((one) => pattern.test(one));
  const release = pattern.exec(name ?? '')?.[1];
  if (name === undefined || release === undefined)
    throw new PrerequisiteError(`Debian ${suite} has no kernel package that linux-image-cloud-amd64 names.`);
  const { root } = await unpackPackages({ suite, packages: [name] }, options);
  return {
    image: join(root, 'boot', `vmlinuz-${release}`),
    release,
    module(wanted) {
      const [file] = globSync(`${root}/{usr/lib,lib}/modules/${release}/kernel/**/${wanted}.ko.xz`);
      if (file === undefined)
        throw new InvalidRequestError(`Linux ${release} has no module "${wanted}", or has it built in.`);
      return file;
    },
  };
}
