export type { Suite } from './apt/private-apt.ts';
export { cacheDirectory } from './cache-directory.ts';
export * from './errors.ts';
export { consoleProgress, type Progress } from './progress.ts';
export { type AccountRequest } from './rootfs/accounts.ts';
export { type BuildOptions, buildRootfs, type Rootfs, type RootfsRequest } from './rootfs/build-rootfs.ts';
export { type RootFile } from './rootfs/root-files.ts';
export { type Tools, type UnpackToolsOptions, unpackTools } from './unpack-tools.ts';
