/** What `make release` was asked for, checked. Each refusal is one sentence that says what to do. */
import type { Architecture } from '@slurm-operator/sandbox';

export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

export interface ReleaseRequest {
  readonly version: string;
  /** Host, optional port and path, without a scheme or a slash at the end. */
  readonly registry: string;
  readonly architectures: readonly Architecture[];
  readonly push: boolean;
  /** Where the files of the release will be offered: krew downloads kubectl-slurm from there. */
  readonly downloads: string;
  /** Whether the registry is on this machine and therefore used without TLS. */
  readonly loopback: boolean;
}

/** Semantic Versioning 2.0.0 without build metadata, which no tag of a registry can carry. */
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*))*)?$/;

const host =
  /^(localhost|\[[0-9a-f:]+\]|[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*)(:\d{1,5})?$/;
const segment = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$/;
const all: readonly Architecture[] = ['amd64', 'arm64'];

export const isPrerelease = (version: string): boolean => version.includes('-');

export function readRequest(env: Readonly<Record<string, string | undefined>>): ReleaseRequest {
  const version = env['VERSION'] ?? '';
  if (!semver.test(version))
    throw new ReleaseError(
      version === ''
        ? 'VERSION is not set: run make release VERSION=1.2.3 REGISTRY=registry.example.com/hpc.'
        : `VERSION is "${version}": write it as a semantic version without "v" and "+", such as 1.2.3 or 1.2.3-rc.1.`,
    );
  const registry = (env['REGISTRY'] ?? '').replace(/\/$/, '');
  checkRegistry(registry);
  const architectures = (env['ARCH'] ?? all.join(','))
    .split(',')
    .map((name) => name.trim()) as Architecture[];
  for (const name of architectures)
    if (!all.includes(name))
      throw new ReleaseError(`ARCH names "${name}": choose amd64, arm64, or both separated by a comma.`);
  const push = env['PUSH'] ?? '';
  if (!['', 'yes', 'no'].includes(push))
    throw new ReleaseError(`PUSH is "${push}": write PUSH=yes to publish, or leave it out.`);
  return {
    version,
    registry,
    architectures: all.filter((name) => architectures.includes(name)),
    push: push === 'yes',
    downloads: downloadsOf(env['DOWNLOADS'], version),
    loopback: isLoopback(registry),
  };
}

/** Without one the manifest works with `kubectl krew install --archive` only. */
function downloadsOf(text: string | undefined, version: string): string {
  const url = (text ?? '').replace(/\/$/, '');
  if (url === '') return `https://downloads.invalid/slurm-operator/${version}`;
  if (!/^https:\/\/[^\s]+$/.test(url))
    throw new ReleaseError(
      `DOWNLOADS is "${url}": write an address that begins with https://, below which the files of the release will be.`,
    );
  return url;
}

function checkRegistry(registry: string): void {
  if (registry === '')
    throw new ReleaseError(
      'REGISTRY is not set: name where the images and charts will be, such as REGISTRY=registry.example.com/hpc.',
    );
  const scheme = /^[a-z]+:\/\//i.exec(registry)?.[0];
  if (scheme !== undefined)
    throw new ReleaseError(
      `REGISTRY begins with "${scheme}": leave it out, such as REGISTRY=${registry.slice(scheme.length)}.`,
    );
  const [first = '', ...path] = registry.split('/');
  if (!host.test(first) || !(first.includes('.') || first.includes(':') || first === 'localhost'))
    throw new ReleaseError(
      `REGISTRY begins with "${first}", which is no host: write a host name with a dot or a port, such as registry.example.com/hpc.`,
    );
  const wrong = path.find((part) => !segment.test(part));
  if (wrong !== undefined)
    throw new ReleaseError(
      `REGISTRY has "${wrong}" in its path: use small letters, digits and single ".", "_" or "-" between them.`,
    );
}

function isLoopback(registry: string): boolean {
  const name = (registry.split('/')[0] ?? '').replace(/:\d+$/, '');
  return name === 'localhost' || name === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(name);
}
