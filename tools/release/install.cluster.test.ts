/**
 * A release of the real images, published to a registry on loopback and installed from there on a cluster that was given no image:
 * operator, slurmctld, slurmrestd and workers are pulled by digest, and a job runs. Minutes, so it runs with RELEASE=full only; RELEASE=both builds and pushes every
 * image of the project for amd64 and arm64.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Helm } from '@slurm-operator/charts';
import { Kubectl, smallMachine } from '@slurm-operator/demo/install';
import { startLocalCluster } from '@slurm-operator/localcluster';
import { consoleProgress, runCommand } from '@slurm-operator/sandbox';
import { startLocalRegistry } from '../testing/local-registry.ts';
import { releaseImages } from './build-images.ts';
import { makeRelease } from './make-release.ts';
import { readRequest } from './request.ts';

const version = '0.0.1';
const asked = process.env['RELEASE'] ?? '';
const skip =
  asked === 'full' || asked === 'both'
    ? false
    : 'not run: it takes minutes; RELEASE=full make test ONLY=tools/release';

test('a release is installed from its registry, and a job runs', {
  skip,
  timeout: asked === 'both' ? 7_000_000 : 1_200_000,
}, async () => {
  await using undo = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'release-install-'));
  undo.defer(() => rm(directory, { recursive: true, force: true }));
  const registry = undo.use(await startLocalRegistry());
  const progress = consoleProgress();
  // The sources as they are: only the changelog of a release that does not exist is made up.
  const repository = join(directory, 'repository');
  await runCommand(['git', 'init', '--quiet', repository]);
  await writeFile(join(repository, 'CHANGELOG.md'), `## ${version}\n- test\n`);
  const git = ['git', '-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  await runCommand([...git, 'add', '.']);
  await runCommand([...git, 'commit', '--quiet', '--message', 'Begin']);
  const needed = ['operator', 'slurmctld-26.05', 'slurmd-26.05', 'slurmrestd-26.05'];
  const isUsed = (name: string) => needed.some((wanted) => name.startsWith(wanted));
  const request = readRequest({
    VERSION: version,
    REGISTRY: `${registry.address}/hpc`,
    PUSH: 'yes',
    ...(asked === 'both' ? {} : { ARCH: process.arch === 'arm64' ? 'arm64' : 'amd64' }),
  });
  const released = await makeRelease(request, {
    repository,
    output: directory,
    credentials: undefined,
    images: releaseImages(version, { progress }).filter(({ name }) => asked === 'both' || isUsed(name)),
    progress,
  });

  const cluster = await startLocalCluster({
    name: `release-${process.pid}`,
    nodes: 2,
    directory: join(directory, 'cluster'),
  });
  undo.defer(() => cluster.stop());
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
  const helm = undo.use(await Helm.open({ kubeconfig }));
  const kubectl = await Kubectl.open(kubeconfig);
  const install = async (name: string, namespace: string, ...more: string[]) =>
    helm.run([
      'install',
      name,
      `oci://${registry.address}/hpc/charts/${name}`,
      '--plain-http',
      '--version',
      version,
      '--namespace',
      namespace,
      '--create-namespace',
      ...more,
    ]);
  await install('slurm-operator-crds', 'slinky');
  await install('slurm-operator', 'slinky', '--wait', '--timeout', '5m');
  const values = {
    ...smallMachine,
    nodesets: { compute: { replicas: 2, partition: { enabled: true } } },
  };
  await install('slurm', 'slurm', '--values', await helm.file(values));
  const ready = async (kind: string) =>
    kubectl.run(
      ['-n', 'slurm', 'wait', '--for=condition=Ready', '--timeout=5m', `${kind}.slinky.slurm.net`, '--all'],
      { timeoutMs: 330_000 },
    );
  await ready('controllers');
  await ready('nodesets');
  await ready('clusters');
  const job = ['-n', 'slurm', 'exec', 'slurm-controller-0', '-c', 'slurmctld', '--'];
  const { stdout } = await kubectl.run([
    ...job,
    'srun',
    '--partition=compute',
    '-N2',
    '--chdir=/tmp',
    'hostname',
  ]);
  assert.deepEqual(stdout.trim().split('\n').toSorted(), ['compute-0', 'compute-1']);

  const images = await kubectl.say(
    'get',
    'pods',
    '--all-namespaces',
    '-o',
    'jsonpath={range .items[*]}{.spec.containers[*].image}{"\\n"}{end}',
  );
  const used = new Set(images.split(/\s+/).filter((image) => image !== ''));
  const expected = released.images
    .filter(({ repository: name, tag }) => isUsed(`${name.split('/').at(-1)}-${tag}`))
    .map(({ repository: name, tag, digest }) => `${registry.address}/hpc/${name}:${tag}@${digest}`);
  assert.deepEqual([...used].toSorted(), expected.toSorted());
  const pushed = released.images.map(
    ({ repository: name, tag, platforms }) => `${name}:${tag} (${Object.keys(platforms).join(', ')})`,
  );
  console.log(`pushed ${pushed.length} images: ${pushed.join('; ')}`);
  console.log(`${used.size} images pulled from ${registry.address} by digest`);
});
