/**
 * helm, built once on this machine from its published module, for the tests and the demo. Users bring their own.
 * Nothing else of this project is built with Go, and no go.mod is kept for it.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  cacheDirectory,
  PrerequisiteError,
  type Progress,
  publishDirectory,
  runCommand,
} from '@slurm-operator/sandbox';

/** The one version that the charts are tried with. */
export const helmVersion = 'v3.22.0';

/** A helm that was not told the Kubernetes it is for believes in 1.20 when it renders without a cluster. */
const linked = `-s -w ${['Major=1', 'Minor=36']
  .map((part) => `-X helm.sh/helm/v3/pkg/chartutil.k8sVersion${part}`)
  .join(' ')}`;

export interface FindHelmOptions {
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
  /** Which Go to use, for tests. */
  readonly go?: string;
}

/** The path of helm; builds it at the first use, which takes some minutes and the network. */
export function findHelm(options: FindHelmOptions = {}): Promise<string> {
  const directory = join(cacheDirectory(), 'helm', helmVersion);
  const { signal } = options;
  return publishDirectory(directory, (scratch) => build(scratch, `${directory}.go`, options), {
    ...(signal === undefined ? {} : { signal }),
    onWait: () => options.progress?.('waiting for another process that builds helm'),
  }).then((path) => join(path, 'helm'));
}

/** What Go has fetched and compiled is kept in `work` until helm is there: a build that was interrupted goes on. */
async function build(
  scratch: string,
  work: string,
  { progress, signal, go = 'go' }: FindHelmOptions,
): Promise<void> {
  await requireGo(go);
  progress?.(`building helm ${helmVersion} with Go: once on this machine, some minutes`);
  let [fetched, compiled, told] = [0, 0, performance.now()];
  await runCommand([go, 'install', '-v', '-ldflags', linked, `helm.sh/helm/v3/cmd/helm@${helmVersion}`], {
    // Go's caches would outlive us and `make clean`: it gets its own, which go when it is done.
    env: {
      ...process.env,
      GOBIN: scratch,
      GOPATH: join(work, 'modules'),
      GOCACHE: join(work, 'objects'),
      GOFLAGS: '-buildvcs=false -modcacherw',
    },
    timeoutMs: 60 * 60_000,
    onLine: (line) => {
      if (line.startsWith('go: downloading ')) fetched += 1;
      else compiled += 1;
      if (performance.now() - told < 10_000) return;
      told = performance.now();
      progress?.(`helm: ${fetched} modules fetched, ${compiled} packages compiled`);
    },
    ...(signal === undefined ? {} : { signal }),
  });
  await rm(work, { recursive: true, force: true });
}

async function requireGo(go: string): Promise<void> {
  try {
    await runCommand([go, 'version'], { timeoutMs: 30_000 });
  } catch (cause) {
    throw new PrerequisiteError(
      `Go is missing, and helm ${helmVersion} cannot be built without it: install Go 1.25 or later, then run this again.`,
      { cause },
    );
  }
}
