/** The public face of the package; README.md teaches it. */
export type { Architecture, Suite } from './apt/private-apt.ts';
export { resolvePackages } from './apt/private-apt.ts';
export { abandonedScratch, cacheDirectory, scratchDirectory } from './directories.ts';
export * from './errors.ts';
export { requireRoot } from './errors.ts';
export type { ImageConfig } from './image/image-config.ts';
export { type ImageDescription, readImageTar } from './image/read-image-tar.ts';
export { unpackImage } from './image/unpack-image.ts';
export { writeImageTar } from './image/write-image-tar.ts';
export { writeOciLayout } from './image/write-oci-layout.ts';
export { type CommandResult, runCommand } from './process/run-command.ts';
export { waitUntil } from './process/wait-until.ts';
export { consoleProgress, type Progress } from './progress.ts';
export { contentKey, publishDirectory } from './publish-directory.ts';
export { type AccountRequest } from './rootfs/accounts.ts';
export { type BuildOptions, buildRootfs, type Rootfs } from './rootfs/build-rootfs.ts';
export { type RootFile, writeRootFiles } from './rootfs/root-files.ts';
export { type UnpackedPackages, unpackPackages } from './rootfs/unpack-packages.ts';
export { Box, type BoxOptions } from './sandbox/box.ts';
export type { BoxMount } from './sandbox/box-stage.ts';

export { cleanSandboxes } from './sandbox/clean-sandboxes.ts';
export { createSandbox, type Sandbox } from './sandbox/create-sandbox.ts';

export type { Network } from './sandbox/network.ts';
export { type Tools, unpackTools } from './unpack-tools.ts';
export { Vm, vmObstacle } from './vm/vm.ts';
